//! The addresses on which clients come.

use std::net::SocketAddr;

use tokio::net;

use crate::cli::exit::{Result, failed};
use crate::engine::complaint::Complaint;

/// Listens on an address of this machine.
pub(super) fn listen_on(address: SocketAddr) -> Result<net::TcpListener> {
    if !address.ip().is_loopback() {
        let cause = format!("`--http {address}` can be reached from other machines");
        let cure = "use 127.0.0.1, and put a proxy with TLS before it if others must reach it";
        return Err(Complaint::with_cure(cause, cure));
    }
    let cannot = || failed(format!("cannot listen on {address}"));
    let listener = std::net::TcpListener::bind(address).map_err(cannot())?;
    listener.set_nonblocking(true).map_err(cannot())?;
    net::TcpListener::from_std(listener).map_err(cannot())
}
