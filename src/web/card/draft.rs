//! The fields of a card as a person left them.

use js_sys::Array;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use crate::web::element::Element;

/// The fields whose content is a person's. What selects a card, and the terms of a permission, are chosen anew.
const FIELDS: &str = "[part=note] textarea, [part=reason] select, [part=form] :is(input, select, textarea)";

#[wasm_bindgen]
extern "C" {
    type Field;
    #[wasm_bindgen(method, getter)]
    fn value(this: &Field) -> String;
    #[wasm_bindgen(method, setter)]
    fn set_value(this: &Field, value: &str);
    #[wasm_bindgen(method, getter)]
    fn checked(this: &Field) -> bool;
    #[wasm_bindgen(method, setter)]
    fn set_checked(this: &Field, checked: bool);
    #[wasm_bindgen(method)]
    fn matches(this: &Field, selector: &str) -> bool;
}

fn fields(place: &Element) -> impl Iterator<Item = Field> + use<> {
    Array::from(&place.all(FIELDS)).into_iter().map(JsCast::unchecked_into)
}

fn is_box(field: &Field) -> bool {
    field.matches("[type=checkbox]")
}

/// What stands in each; of a box that is ticked anything.
pub fn read(place: &Element) -> Vec<String> {
    let text = |field: Field| match (is_box(&field), field.checked()) {
        (true, true) => "on".to_owned(),
        (true, false) => String::new(),
        (false, _) => field.value(),
    };
    fields(place).map(text).collect()
}

/// Fills these in, in the same order.
pub fn write(place: &Element, texts: &[String]) {
    for (field, text) in fields(place).zip(texts) {
        if is_box(&field) {
            field.set_checked(!text.is_empty());
        } else {
            field.set_value(text);
        }
    }
}
