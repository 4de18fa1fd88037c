//! Server-sent events: bytes → events.
