//! The host's rules, evaluated in the page. What they said is judged in the core.

use js_sys::{Function, JSON, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::error::text_of;
use super::value::{Options, Problem};
use crate::core::policy::{Opinion, matches};
use crate::core::run::Candidate;

/// One rule of the host.
pub enum Rule {
    /// A function of the call.
    Function(Function),
    /// A verdict about the tools a pattern names, on a condition about the arguments.
    Pattern {
        /// Tool names, `*` for any run of characters.
        pattern: String,
        /// `(args, call) => boolean`; none means always.
        when: Option<Function>,
        /// What the rule says then.
        opinion: Opinion,
    },
}

impl Rule {
    /// Reads what `ask`, `refuse` and `allow` of the JavaScript side made, or a function.
    pub fn read(value: JsValue, path: &str, problem: &Problem) -> Self {
        if value.is_function() {
            return Self::Function(value.unchecked_into());
        }
        let opinion = verdict(&value);
        let options = Options::new(value, path, &["pattern", "when", "verdict", "reason"], problem);
        if opinion.is_none() {
            problem.note(&[path, " must come from ask(), refuse() or allow()"]);
        }
        Self::Pattern {
            pattern: options.text("pattern"),
            when: options.optional_function("when"),
            opinion: opinion.unwrap_or(Opinion::Refuse(String::new())),
        }
    }

    /// What the rule says of a call; `None` where it has no opinion.
    pub fn opinion(&self, call: &Candidate) -> Option<Opinion> {
        let described = describe(call);
        let (answer, opinion) = match self {
            Self::Function(rule) => (rule.call1(&JsValue::UNDEFINED, &described), None),
            Self::Pattern { pattern, .. } if !matches(pattern, &call.tool) => return None,
            Self::Pattern { when: None, opinion, .. } => return Some(opinion.clone()),
            Self::Pattern { when: Some(when), opinion, .. } => {
                let arguments = Reflect::get(&described, &"args".into()).unwrap_or(JsValue::UNDEFINED);
                (when.call2(&JsValue::UNDEFINED, &arguments, &described), Some(opinion))
            }
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(thrown) => return Some(Opinion::Broken(["it threw \"", &text_of(&thrown), "\""].concat())),
        };
        if answer.is_undefined() {
            return None;
        }
        let said = match opinion {
            Some(_) if answer.as_bool() == Some(false) => return None,
            Some(opinion) => answer.is_truthy().then(|| opinion.clone()).filter(|_| answer.as_bool().is_some()),
            None => verdict(&answer),
        };
        Some(said.unwrap_or_else(|| Opinion::Broken(nonsense(&answer).to_owned())))
    }
}

/// The call as a rule sees it, made anew for each rule: what one rule does to it, no other sees.
fn describe(call: &Candidate) -> JsValue {
    let object = Object::new();
    let arguments = JSON::parse(&call.arguments).unwrap_or(JsValue::UNDEFINED);
    for (key, value) in [
        ("id", call.call.as_str().into()),
        ("tool", call.tool.as_str().into()),
        ("args", arguments),
        ("argsText", call.arguments.as_str().into()),
    ] {
        // A fresh plain object takes any of these keys.
        let _ = Reflect::set(&object, &key.into(), &value);
    }
    object.into()
}

fn verdict(value: &JsValue) -> Option<Opinion> {
    if !value.is_object() {
        return None;
    }
    let text = |key: &str| Reflect::get(value, &key.into()).ok().and_then(|field| field.as_string());
    let reason = text("reason");
    match text("verdict")?.as_str() {
        "allow" => Some(Opinion::Allow),
        "ask" => Some(Opinion::Ask(reason?)),
        "refuse" => Some(Opinion::Refuse(reason?)),
        _ => None,
    }
}

fn nonsense(value: &JsValue) -> &'static str {
    if value.has_type::<js_sys::Promise>() {
        "it returned a promise, and rules must answer at once"
    } else {
        "it returned something that is no verdict"
    }
}
