//! What `serve` takes.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::options::{SourceArgs, dialect_name, digest, jobs};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("door").args(["stdio", "mcp", "http", "unix"]).multiple(true).required(true))]
pub(crate) struct ServeArgs {
    /// Serve the program that started it: JSON-RPC, one object a line, on stdin and stdout
    #[arg(long, conflicts_with = "mcp")]
    pub(crate) stdio: bool,

    /// The same as an MCP server, with a tool for each event
    #[arg(long)]
    pub(crate) mcp: bool,

    /// Serve HTTP on this address (`127.0.0.1:PORT`), for clients with the token
    #[arg(long, value_name = "ADDRESS", value_parser = own_address)]
    pub(crate) http: Option<SocketAddr>,

    /// Serve HTTP on this socket, for programs of the same user
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,

    /// The file with the token of --http; made if it is not there [default: `serve.token` in
    /// hookrun's state folder]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token: Option<PathBuf>,

    /// The host or hook system in whose words clients ask, where they do not say it themselves
    #[arg(long, value_name = "NAME", value_parser = dialect_name())]
    pub(crate) host: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Trust the hooks of a project if they have this digest, as `hookrun trust --show` prints it;
    /// can be given several times
    #[arg(long, value_name = "DIGEST", value_parser = digest)]
    pub(crate) trust: Vec<String>,

    /// How many hooks may run at once [default: twice the processors, at most 16]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// Append each event and its decision to this file, as one line of JSON without secrets; also
    /// by HOOKRUN_RECORD
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
}

fn own_address(text: &str) -> Result<SocketAddr, String> {
    let wrong = |_| "write an address and a port: `127.0.0.1:8123`".to_string();
    text.parse().map_err(wrong)
}
