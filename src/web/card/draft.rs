//! The fields of a card as a person left them.

use js_sys::{Array, Object};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use crate::web::element::Element;

/// The fields whose content is a person's. What selects a card, and the terms of a permission, are chosen anew.
const FIELDS: &str = "[part=note] textarea, [part=reason] select, [part=form] :is(input, select, textarea)";

#[wasm_bindgen]
extern "C" {
    type Field;
    /// As the page has it: a text with half a character in it would become another in here.
    #[wasm_bindgen(method, getter)]
    fn value(this: &Field) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_value(this: &Field, value: &JsValue);
    #[wasm_bindgen(method, getter)]
    fn checked(this: &Field) -> bool;
    #[wasm_bindgen(method, setter)]
    fn set_checked(this: &Field, checked: bool);
    #[wasm_bindgen(method)]
    fn matches(this: &Field, selector: &str) -> bool;
    #[wasm_bindgen(method, getter)]
    fn validity(this: &Field) -> Validity;
    #[wasm_bindgen(method, js_name = setCustomValidity)]
    fn set_wrong(this: &Field, why: &str);

    type Validity;
    #[wasm_bindgen(method, getter, js_name = badInput)]
    fn is_unreadable(this: &Validity) -> bool;
    #[wasm_bindgen(method, getter, js_name = customError)]
    fn is_wrong(this: &Validity) -> bool;
}

fn fields(place: &Element) -> impl Iterator<Item = Field> + use<> {
    Array::from(&place.all(FIELDS)).into_iter().map(JsCast::unchecked_into)
}

fn is_box(field: &Field) -> bool {
    field.matches("[type=checkbox]")
}

/// What stands in each: a text, whether it is ticked, or null for what the browser holds back since it cannot read it.
pub fn read(place: &Element) -> Array {
    let content = |field: Field| {
        let validity = field.validity();
        if validity.is_unreadable() || validity.is_wrong() {
            JsValue::NULL
        } else if is_box(&field) {
            field.checked().into()
        } else {
            field.value()
        }
    };
    fields(place).map(content).collect()
}

/// Fills these in, in the same order. What was held back is lost, and its field says that it cannot be read until something
/// is typed: it is not to become an empty one that could be sent.
pub fn write(place: &Element, contents: &Array) {
    for (field, content) in fields(place).zip(contents.iter()) {
        if content.is_null() {
            field.set_wrong("-");
        } else if let Some(checked) = content.as_bool() {
            field.set_checked(checked);
        } else {
            field.set_value(&content);
        }
    }
}

/// Whether both hold the same.
pub fn is_same(one: &Array, other: &Array) -> bool {
    one.length() == other.length() && one.iter().zip(other.iter()).all(|(one, other)| Object::is(&one, &other))
}

/// Which field this is; one that is not there if it is none.
pub fn place_of(place: &Element, focused: &Element) -> u32 {
    let found = fields(place).position(|field| field.unchecked_ref::<Element>() == focused);
    found.and_then(|found| u32::try_from(found).ok()).unwrap_or(u32::MAX)
}

/// The field there.
pub fn at(place: &Element, found: u32) -> Option<Element> {
    fields(place).nth(found as usize).map(JsCast::unchecked_into)
}
