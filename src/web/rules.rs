//! The host's rules, evaluated in the page. What they said is judged in the core.

use js_sys::{Function, JSON, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::error::text_of;
use super::value::{Options, invalid};
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
    pub fn read(value: &JsValue, path: &str) -> Result<Self, JsValue> {
        if let Some(function) = value.dyn_ref::<Function>() {
            return Ok(Self::Function(function.clone()));
        }
        let options = Options::new(value, path, &["pattern", "when", "verdict", "reason"])?;
        Ok(Self::Pattern {
            pattern: options.text("pattern")?,
            when: options.optional_function("when")?,
            opinion: verdict(value).ok_or_else(|| invalid(path, "must come from ask(), refuse() or allow()"))?,
        })
    }

    /// What the rule says of a call; `None` where it has no opinion.
    pub fn opinion(&self, call: &Candidate) -> Option<Opinion> {
        match self {
            Self::Function(rule) => match rule.call1(&JsValue::UNDEFINED, &describe(call)) {
                Err(thrown) => Some(Opinion::Broken(format!("it threw \"{}\"", text_of(&thrown)))),
                Ok(answer) if answer.is_undefined() => None,
                Ok(answer) => Some(verdict(&answer).unwrap_or_else(|| Opinion::Broken(nonsense(&answer)))),
            },
            Self::Pattern { pattern, when, opinion } => {
                if !matches(pattern, &call.tool) {
                    return None;
                }
                let Some(when) = when else { return Some(opinion.clone()) };
                let described = describe(call);
                let arguments = Reflect::get(&described, &"args".into()).unwrap_or(JsValue::UNDEFINED);
                match when.call2(&JsValue::UNDEFINED, &arguments, &described) {
                    Err(thrown) => Some(Opinion::Broken(format!("it threw \"{}\"", text_of(&thrown)))),
                    Ok(answer) => match answer.as_bool() {
                        Some(true) => Some(opinion.clone()),
                        Some(false) => None,
                        None if answer.is_undefined() => None,
                        None => Some(Opinion::Broken(nonsense(&answer))),
                    },
                }
            }
        }
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

fn nonsense(value: &JsValue) -> String {
    let what = if value.has_type::<js_sys::Promise>() {
        "a promise (rules must answer at once)"
    } else if value.is_function() {
        "a function"
    } else {
        "something that is no verdict"
    };
    format!("it returned {what}")
}
