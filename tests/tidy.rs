//! The arrows of the architecture, held by reading the sources.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The code of a file, without its comments.
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_core_knows_no_browser_no_clock_and_no_randomness() {
    let files = sources(&root().join("src/core"));
    assert!(files.len() > 10);
    for (path, text) in files {
        for word in
            ["wasm_bindgen", "js_sys", "web_sys", "gloo", "crate::web", "SystemTime", "Instant", "rand", "async "]
        {
            let used =
                code(&text).split(|c: char| !(c.is_alphanumeric() || "_: ".contains(c))).any(|s| s.contains(word));
            assert!(!used || (word == "rand" && !code(&text).contains("rand::")), "{} uses {word}", path.display());
        }
    }
}

#[test]
fn modules_use_only_what_stands_before_them() {
    // Each module with those it may use.
    let allowed: &[(&str, &[&str])] = &[
        ("json", &[]),
        ("sse", &[]),
        ("message", &["json"]),
        ("wire", &["json", "message", "sse"]),
        ("arguments", &["json"]),
        ("outcome", &["message"]),
        ("wording", &["json", "message", "outcome"]),
        ("policy", &["message", "outcome"]),
        ("approval", &["json", "message", "outcome", "policy"]),
        ("guard", &[]),
        ("upcast", &["json"]),
        ("event", &["json", "message", "outcome", "approval", "upcast"]),
        ("grant", &["json", "message", "outcome", "policy", "approval", "event"]),
        ("chain", &["json", "outcome", "approval", "event"]),
        ("log", &["json", "message", "outcome", "approval", "event"]),
        ("run", &["json", "message", "outcome", "approval", "event", "grant", "log", "policy", "arguments", "wording"]),
        ("card", &["json", "message", "arguments", "outcome", "policy", "approval", "event", "grant", "log", "run"]),
        ("snapshot", &["json", "message", "outcome", "approval", "event", "grant", "log", "run", "card"]),
    ];
    let core = root().join("src/core");
    for (path, text) in sources(&core) {
        let relative = path.strip_prefix(&core).unwrap().with_extension("");
        let module = relative.components().next().unwrap().as_os_str().to_str().unwrap().to_owned();
        let (_, may) =
            allowed.iter().find(|(name, _)| *name == module).unwrap_or_else(|| panic!("{module} has no row"));
        let text = code(&text);
        for (other, _) in allowed.iter().filter(|(other, _)| *other != module && !may.contains(other)) {
            for spelling in [format!("core::{other}::"), format!("core::{other};")] {
                assert!(!text.contains(&spelling), "{} uses {other}", path.display());
            }
            if relative.components().count() == 1 {
                assert!(!text.contains(&format!("super::{other}::")), "{} uses {other}", path.display());
            }
        }
    }
}

/// The files of the folder, each with those of it that it uses.
fn uses(folder: &str) -> Vec<(String, Vec<String>)> {
    let files = sources(&root().join(folder));
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let names: Vec<String> = files.iter().map(|(path, _)| name(path)).collect();
    let own = |text: &str| {
        let code: String = code(text).split_whitespace().collect();
        // What stands in the folder's own module may use all of it, and be used by all.
        let listed = code.split("usesuper::").skip(1).map(|rest| rest.split(';').next().unwrap_or_default());
        let listed = listed.collect::<Vec<_>>().join(",");
        let is_used = |name: &&String| {
            listed.split(['{', ',', '}']).any(|one| one == name.as_str() || one.starts_with(&format!("{name}::")))
                || code.contains(&format!("super::{name}::"))
        };
        names.iter().filter(is_used).cloned().collect()
    };
    files.iter().map(|(path, text)| (name(path), own(text))).collect()
}

#[test]
fn no_two_files_of_a_folder_of_the_shell_use_each_other() {
    for folder in ["src/web/driver", "src/web/guard", "src/web/setup"] {
        let uses = uses(folder);
        let reached = |from: &str| {
            let mut found: Vec<String> = Vec::new();
            let mut left = vec![from.to_owned()];
            while let Some(next) = left.pop() {
                let used = uses.iter().filter(|(name, _)| *name == next).flat_map(|(_, used)| used);
                for used in used.filter(|used| !found.contains(used)).cloned().collect::<Vec<_>>() {
                    found.push(used.clone());
                    left.push(used);
                }
            }
            found
        };
        assert!(folder != "src/web/driver" || uses.iter().any(|(_, used)| !used.is_empty()));
        for (name, _) in &uses {
            assert!(!reached(name).contains(name), "{folder}/{name}.rs is used by what it uses");
        }
    }
}

#[test]
fn no_room_is_overfull() {
    for (path, text) in sources(&root().join("src")) {
        let lines = text.lines().count();
        assert!(lines <= 600, "{} has {lines} lines", path.display());
    }
}

#[test]
fn the_top_level_holds_nothing_new() {
    let known = [
        "Cargo.toml",
        "Cargo.lock",
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "src",
        "target",
        "tests",
        "wasm-pack.toml",
        "www",
    ];
    for entry in fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.starts_with('.') || known.contains(&name.as_str()), "{name} does not belong at the top level");
    }
}
