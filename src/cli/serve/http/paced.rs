//! A connection whose other end must keep up.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::time::{Instant, Sleep};

/// How long a client may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct HttpPatience {
    /// With the head of a request, from its first byte.
    pub(super) head: Duration,
    /// With a body.
    pub(super) body: Duration,
    /// Until it reads more of an answer.
    pub(super) answer: Duration,
    /// Between requests.
    pub(super) idle: Duration,
}

impl HttpPatience {
    /// With those who keep up, however slow their machine is.
    pub(super) const USUAL: HttpPatience = HttpPatience {
        head: Duration::from_secs(5),
        body: Duration::from_secs(30),
        answer: Duration::from_secs(30),
        idle: Duration::from_secs(60),
    };
}

/// Counts when the answer to a request begins and when it is there: while it is odd, what comes is
/// no head of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct AnswerCount(Arc<AtomicUsize>);

impl AnswerCount {
    /// An answer begins, or is there.
    pub(super) fn step(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A connection that fails where the client takes too long.
pub(super) struct PacedStream<S> {
    stream: S,
    patience: HttpPatience,
    answers: AnswerCount,
    /// The count that `has_begun` and `until` are of.
    seen: usize,
    /// Whether a part of the next head is there.
    has_begun: bool,
    /// When what is waited for must have come.
    until: Option<Instant>,
    /// Stays from request to request: to set an alarm anew costs a call of the system, and most
    /// requests come long before it.
    alarm: Option<Pin<Box<Sleep>>>,
    write: Option<Pin<Box<Sleep>>>,
}

impl<S> PacedStream<S> {
    pub(super) fn new(stream: S, patience: HttpPatience, answers: AnswerCount) -> PacedStream<S> {
        PacedStream {
            stream,
            patience,
            answers,
            seen: 0,
            has_begun: false,
            until: None,
            alarm: None,
            write: None,
        }
    }

    /// Fails once what is waited for is late.
    fn wait(&mut self, limit: Duration, context: &mut Context<'_>) -> io::Result<()> {
        let until = *self.until.get_or_insert_with(|| Instant::now() + limit);
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if alarm.deadline() > until {
            alarm.as_mut().reset(until);
        }
        while alarm.as_mut().poll(context).is_ready() {
            if alarm.deadline() == until {
                return Err(io::ErrorKind::TimedOut.into());
            }
            // It was set for an earlier request.
            alarm.as_mut().reset(until);
        }
        Ok(())
    }
}

impl<S: Read + Unpin> Read for PacedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let own = &mut *self;
        let read = Pin::new(&mut own.stream).poll_read(context, buffer);
        let count = own.answers.0.load(Ordering::Relaxed);
        if own.seen != count {
            (own.seen, own.has_begun, own.until) = (count, false, None);
        }
        let is_answering = count % 2 == 1;
        let HttpPatience { head, idle, .. } = own.patience;
        match read {
            _ if is_answering => {}
            Poll::Pending => own.wait(if own.has_begun { head } else { idle }, context)?,
            Poll::Ready(_) if own.has_begun => {}
            Poll::Ready(_) => (own.has_begun, own.until) = (true, None),
        }
        read
    }
}

impl<S: Write + Unpin> Write for PacedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let own = &mut *self;
        let written = Pin::new(&mut own.stream).poll_write(context, bytes);
        match written {
            Poll::Pending => {
                let patience = own.patience.answer;
                let until = || Box::pin(tokio::time::sleep(patience));
                let is_late = own
                    .write
                    .get_or_insert_with(until)
                    .as_mut()
                    .poll(context)
                    .is_ready();
                if is_late {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
            }
            Poll::Ready(_) => own.write = None,
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        false
    }
}
