//! What the card says, in the language of the page: `www/src/words.ts` has the messages, which `www/src/locales` lists.

use wasm_bindgen::prelude::*;

use crate::core::json::Writer;
use crate::web::element::Element;

#[wasm_bindgen]
extern "C" {
    /// The messages of one language.
    #[derive(Clone)]
    pub type Words;

    /// The language, as a BCP 47 tag.
    #[wasm_bindgen(method, getter)]
    pub fn locale(this: &Words) -> String;

    /// `ltr` or `rtl`.
    #[wasm_bindgen(method, getter)]
    pub fn direction(this: &Words) -> String;

    /// The message of a key.
    #[wasm_bindgen(method)]
    pub fn say(this: &Words, key: &str) -> String;

    #[wasm_bindgen(method, js_name = say)]
    fn say_of(this: &Words, key: &str, values: &str) -> String;

    #[wasm_bindgen(method, js_name = sayAgain)]
    fn say_again(this: &Words, kind: &str, sentence: &str) -> String;

    /// The fields of a form, given as JSON, as an element whose `value` is what was filled in, as JSON; empty if that does
    /// not fit.
    #[wasm_bindgen(method)]
    pub fn form(this: &Words, form: &str) -> Element;

    /// Where arguments (JSON) are changed, by the schema of their tool (JSON), as an element whose `value` is what stands
    /// there, as JSON text; empty if a field of it says what is wrong.
    #[wasm_bindgen(method)]
    pub fn editor(this: &Words, arguments: &str, schema: &str, says: &str) -> Element;
}

impl Words {
    /// The message of a key, with the members that `write` writes as its values: texts, numbers, lists of texts.
    pub fn fill(&self, key: &str, write: impl FnOnce(&mut Writer)) -> String {
        let mut values = Writer::default();
        values.open('{');
        write(&mut values);
        values.close('}');
        self.say_of(key, &values.finish())
    }

    /// A message of which one value stands in an element of its own: what is said before and after that.
    pub fn around(&self, key: &str, value: &str) -> (String, String) {
        // No message has this character, and a mark of direction around it is not needed around an element.
        let said = self.fill(key, |values| values.text(value, "\0"));
        let (before, after) = said.split_once('\0').unwrap_or((&said, ""));
        (before.trim_end_matches('\u{2068}').to_owned(), after.trim_start_matches('\u{2069}').to_owned())
    }

    /// A reason why a call stopped: one of the core's own in the page's language, a host's as it is.
    pub fn why(&self, sentence: &str) -> String {
        self.say_again("why", sentence)
    }

    /// What is wrong with arguments: a problem of a schema in the page's language, any other as it is.
    pub fn problem(&self, sentence: &str) -> String {
        self.say_again("form.problem", sentence)
    }

    /// A line of a preview: what the package says of one that failed, or what the tool says as it is.
    pub fn preview(&self, line: &str) -> String {
        self.say_again("preview", line)
    }
}
