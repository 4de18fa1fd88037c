//! Feeds mutated model streams to the decoder and to every reducer.
//!
//! `cargo run --release --manifest-path tests/fuzz/Cargo.toml -- [target] [seconds] [seed]`
//!
//! A target is `sse` or a format; `all` takes them in turn. The seeds are the fixtures, the project's own and the recorded
//! collection where it is. A run is repeated by its seed. It fails on a panic, on a result that depends on where the stream
//! was cut, on memory out of proportion to the input, and on an input that takes too long.

mod memory;
mod mutate;
mod target;

use mutate::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use target::{TARGETS, Target};

/// Bytes that one byte of input may cost at most, and what any input may cost: a stream that is an answer is held as text,
/// as JSON and as items, and each is cloned once to be compared.
const MEMORY: (usize, usize) = (100, 1 << 20);
/// How long an input may take. The inputs are small; only work that grows faster than they do takes so long.
const SLOW: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| String::from("all"));
    let number = |text: Option<String>, otherwise: u64| text.map_or(Some(otherwise), |text| text.parse().ok());
    let (seconds, seed) = (number(arguments.next(), 10), number(arguments.next(), 1));
    let chosen: Vec<&Target> = TARGETS.iter().filter(|target| name == "all" || name == target.name).collect();
    let (Some(seconds), Some(seed), false) = (seconds, seed, chosen.is_empty()) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("Give a target (all, {}), seconds, and a seed, both as numbers.", names.join(", "));
        return ExitCode::from(2);
    };
    let each = Duration::from_secs(seconds) / chosen.len() as u32;
    let failures = chosen.iter().filter(|target| !fuzz(target, each, seed)).count();
    println!("{} passed, {failures} failed", chosen.len() - failures);
    ExitCode::from(u8::from(failures > 0))
}

/// Whether a target stood the given time.
fn fuzz(target: &Target, time: Duration, seed: u64) -> bool {
    let seeds = target.seeds();
    let mut random = Random::new(seed);
    let (start, mut inputs, mut peak) = (Instant::now(), 0u64, 0);
    while start.elapsed() < time {
        let input = mutate::input(&seeds, &mut random);
        let begun = Instant::now();
        memory::reset();
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.check)(&input, &mut random)));
        let used = memory::peak();
        peak = peak.max(used);
        let problem = match outcome {
            Err(_) => Some(String::from("a panic, see above")),
            Ok(Err(problem)) => Some(problem),
            Ok(Ok(())) if used > input.len() * MEMORY.0 + MEMORY.1 => Some(format!("{used} bytes of memory")),
            Ok(Ok(())) if begun.elapsed() > SLOW => Some(format!("{:?}", begun.elapsed())),
            Ok(Ok(())) => None,
        };
        if let Some(problem) = problem {
            let file = std::env::temp_dir().join(format!("countersign-fuzz-{}", target.name));
            let kept = std::fs::write(&file, &input).map_or(String::new(), |()| format!(" kept as {}", file.display()));
            println!("{}: {problem} (seed {seed}, input {inputs} of {} bytes{kept})", target.name, input.len());
            return false;
        }
        inputs += 1;
    }
    println!("{}: {inputs} inputs from {} seeds, at most {} KiB of memory", target.name, seeds.len(), peak >> 10);
    true
}
