//! A log as text: JSON Lines, as it was exported.

use super::{Chat, Corrupt};
use crate::core::event::Event;

/// Reads the log of one chat. Blank lines count for nothing, and a line may end as Windows ends lines. Gives the chat and
/// its lines as they are to be stored.
pub fn read(text: &str) -> Result<(Chat, Vec<&str>), Corrupt> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let corrupt = |problem| Corrupt { seq: 0, problem };
    let first = lines.first().ok_or_else(|| corrupt("the text holds no event".to_owned()))?;
    let id = Event::decode(first).map_err(corrupt)?.chat;
    let chat = Chat::replay(id, lines.iter().copied())?;
    Ok((chat, lines))
}
