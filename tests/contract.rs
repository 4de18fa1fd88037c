//! Tokens that callers rely on: exact, and the same in Rust and in TypeScript.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use countersign::core::approval::RequestKind;
use countersign::core::chain::Privacy;
use countersign::core::message::ModelErrorClass;
use countersign::core::outcome::{Decider, DenyReason, Token, Via};
use countersign::core::run::RunError;
use countersign::core::wording::Renderer;

/// The strings of one constant array in the package's TypeScript.
fn typescript(constant: &str) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/www/src/tokens.ts");
    let source = std::fs::read_to_string(path).unwrap();
    let start = source.find(&format!("export const {constant} = [")).expect("the constant");
    let array = &source[start..source[start..].find("] as const").unwrap() + start];
    array.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_tokens_are_the_contracts() {
    let tokens: Vec<_> = Token::ALL.iter().map(|token| token.token()).collect();
    let expected = "tool_failed approval_denied approval_expired approval_superseded approval_cancelled already_declined \
                    request_declined request_lapsed blocked_by_policy tool_unavailable arguments_invalid turn_truncated \
                    outcome_unknown";
    assert_eq!(tokens.join(" "), expected);
    assert_eq!(typescript("OUTCOMES"), tokens);

    let deciders: Vec<_> = Decider::ALL.iter().map(|decider| decider.token()).collect();
    assert_eq!(deciders, ["run_owner", "other_user", "unknown"]);
    assert_eq!(typescript("DECIDERS"), deciders);

    let reasons: Vec<_> = DenyReason::ALL.iter().map(|reason| reason.token()).collect();
    assert_eq!(reasons, ["variant", "skip"]);
    assert_eq!(typescript("DENY_REASONS"), reasons);

    let renderers: Vec<_> = Renderer::ALL.iter().map(|renderer| renderer.token()).collect();
    assert_eq!(renderers, ["sentence", "json", "compact"]);
    assert_eq!(typescript("RENDERERS"), renderers);

    let paths: Vec<_> = Via::ALL.iter().map(|via| via.token()).collect();
    assert_eq!(paths, ["card", "api", "waitFor"]);
    assert_eq!(typescript("VIAS"), paths);

    let kinds = typescript("REQUEST_KINDS");
    assert_eq!(kinds, ["approval", "input", "question", "authorization"]);
    for kind in kinds {
        assert!(!matches!(RequestKind::of(&kind), RequestKind::Other(_)), "{kind}");
    }

    let levels: Vec<_> = Privacy::ALL.iter().map(|level| level.token()).collect();
    assert_eq!(levels, ["metadata", "redacted", "full"]);
    assert_eq!(typescript("PRIVACY_LEVELS"), levels);
}

#[test]
fn tokens_read_back_and_nothing_else_does() {
    for token in Token::ALL {
        assert_eq!(Token::from_token(token.token()), Some(*token));
        assert_eq!(Token::from_token(&token.token().to_uppercase()), None);
    }
    assert_eq!(Token::from_token("approval.denied"), None);
}

#[test]
fn error_codes_are_distinct() {
    let corrupt = countersign::core::log::Corrupt { seq: 0, problem: String::new() };
    let run = [
        RunError::Busy,
        RunError::UnknownRequest,
        RunError::Conflict,
        RunError::Expired,
        RunError::NoExtension,
        RunError::NothingToResume,
        RunError::Stale,
        RunError::Corrupt(corrupt),
    ];
    let model = [
        ModelErrorClass::Auth,
        ModelErrorClass::Quota,
        ModelErrorClass::RateLimit,
        ModelErrorClass::ContextTooLong,
        ModelErrorClass::BadRequest,
        ModelErrorClass::Overloaded,
        ModelErrorClass::Timeout,
        ModelErrorClass::NetworkOrCors,
        ModelErrorClass::BadResponse,
        ModelErrorClass::Provider,
    ];
    let mut codes: Vec<_> = run.iter().map(RunError::code).chain(model.map(ModelErrorClass::code)).collect();
    let count = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), count);
    for error in &run {
        let message = error.message();
        assert!(message.ends_with('.') && message.len() > 20, "{message}");
    }
}

#[test]
fn only_outcomes_of_a_persons_decision_can_hold_a_decider() {
    use countersign::core::outcome::{Denial, Lapse, Outcome};
    let denied = Denial { decided_by: Decider::RunOwner, reason: None, note: None };
    assert_eq!(Outcome::ApprovalDenied(denied).decided_by(), Some(Decider::RunOwner));
    let declined = Outcome::RequestDeclined { decided_by: Decider::OtherUser };
    assert_eq!(declined.decided_by(), Some(Decider::OtherUser));
    for outcome in [
        Outcome::ApprovalExpired,
        Outcome::ApprovalSuperseded { approved: true },
        Outcome::ApprovalCancelled { approved: true },
        Outcome::RequestLapsed(Lapse::Expired),
        Outcome::BlockedByPolicy(String::new()),
        Outcome::TurnTruncated,
        Outcome::OutcomeUnknown,
    ] {
        assert_eq!(outcome.decided_by(), None);
        assert_eq!(
            outcome.token().executed() == Some(false),
            !matches!(outcome, Outcome::RequestLapsed(_) | Outcome::OutcomeUnknown)
        );
    }
}
