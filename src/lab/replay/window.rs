//! What several threads have done, given on in the order of the recording. Who is far ahead waits,
//! so that what is held stays within bounds.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is held at the most, beside one piece for each thread.
pub(super) const MOST_BYTES: usize = 8 * 1024 * 1024;

/// From so many pieces on the one that takes them is woken: each time costs, and it looks by itself
/// every now and then.
const WAKING: usize = 16;

/// How many pieces are held at the most.
pub(super) const MOST_PIECES: usize = 4096;

/// Pieces on their way from the threads that make them to the one that takes them.
#[derive(Debug)]
pub(super) struct Window<T> {
    state: Mutex<WindowState<T>>,
    /// Somebody waits for a piece, or for the others to end.
    came: Condvar,
    /// Somebody waits for room.
    went: Condvar,
}

#[derive(Debug)]
struct WindowState<T> {
    /// The piece that is to be taken next.
    next: u64,
    pieces: BTreeMap<u64, (T, usize)>,
    held_bytes: usize,
    /// The threads that may still bring something.
    at_work: usize,
    is_stopped: bool,
}

/// What can be taken.
#[derive(Debug, PartialEq)]
pub(super) enum TakenBatch<T> {
    /// The next piece.
    Piece(T),
    /// Nothing yet.
    Nothing,
    /// Nothing ever.
    End,
}

impl<T> Window<T> {
    /// A window for so many threads.
    pub(super) fn new(threads: usize) -> Window<T> {
        let state = WindowState {
            next: 0,
            pieces: BTreeMap::new(),
            held_bytes: 0,
            at_work: threads,
            is_stopped: false,
        };
        Window { state: Mutex::new(state), came: Condvar::new(), went: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, WindowState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a piece of about so many bytes in its place, when there is room. The next one always
    /// has room, so that everybody gets on. Says whether more is wanted.
    pub(super) fn put(&self, number: u64, piece: T, bytes: usize) -> bool {
        let mut state = self.state();
        while !state.is_stopped && number > state.next && state.is_full() {
            state = self.went.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.held_bytes += bytes;
        state.pieces.insert(number, (piece, bytes));
        if state.pieces.len() >= WAKING || state.held_bytes >= MOST_BYTES / 4 {
            self.came.notify_all();
        }
        !state.is_stopped
    }

    /// A thread brings nothing more.
    pub(super) fn leave(&self) {
        self.state().at_work -= 1;
        self.came.notify_all();
    }

    /// Nothing more is wanted.
    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.went.notify_all();
    }

    /// Whether nothing more is wanted.
    pub(super) fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// The next piece, if it comes within `patience`.
    pub(super) fn take(&self, patience: Duration) -> TakenBatch<T> {
        let until = Instant::now() + patience;
        let mut state = self.state();
        loop {
            let next = state.next;
            if let Some((piece, bytes)) = state.pieces.remove(&next) {
                state.next += 1;
                state.held_bytes -= bytes;
                self.went.notify_all();
                return TakenBatch::Piece(piece);
            }
            if state.at_work == 0 {
                return TakenBatch::End;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return TakenBatch::Nothing;
            }
            let waited = self.came.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl<T> WindowState<T> {
    fn is_full(&self) -> bool {
        self.held_bytes >= MOST_BYTES || self.pieces.len() >= MOST_PIECES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn pieces_are_taken_in_order_whoever_is_first() {
        let window = Window::new(4);
        let numbers = AtomicU64::new(0);
        let mut taken = Vec::new();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let number = numbers.fetch_add(1, Ordering::Relaxed);
                        if number >= 2000 {
                            break;
                        }
                        if number.is_multiple_of(7) {
                            thread::yield_now();
                        }
                        assert!(window.put(number, number, 1));
                    }
                    window.leave();
                });
            }
            while let TakenBatch::Piece(number) = window.take(LONG) {
                taken.push(number);
            }
        });
        assert_eq!(taken, (0..2000).collect::<Vec<_>>());
    }

    #[test]
    fn who_is_far_ahead_waits_until_the_next_one_is_taken() {
        let window = Window::new(1);
        let ahead = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                // The first is missing, and these fill the window.
                for number in 1..=20 {
                    window.put(number, number, MOST_BYTES / 8);
                    ahead.store(number, Ordering::SeqCst);
                }
                window.leave();
            });
            while ahead.load(Ordering::SeqCst) < 8 {
                thread::yield_now();
            }
            assert_eq!(window.take(Duration::from_millis(20)), TakenBatch::Nothing);
            assert_eq!(ahead.load(Ordering::SeqCst), 8, "the ninth does not fit");
            assert!(window.put(0, 0, MOST_BYTES), "the next one always fits");
            for number in 0..=20 {
                assert_eq!(window.take(LONG), TakenBatch::Piece(number));
            }
        });
        assert_eq!(window.take(LONG), TakenBatch::End);
    }

    #[test]
    fn nobody_waits_once_nothing_more_is_wanted() {
        let window = Window::new(1);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut number = 1;
                while window.put(number, (), MOST_BYTES) {
                    number += 1;
                }
                window.leave();
            });
            thread::yield_now();
            window.stop();
        });
        assert!(window.is_stopped());
    }
}
