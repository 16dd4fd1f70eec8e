//! `hookrun validate`: every problem at once, each with file, line, cause and cure.

use std::io::Write;

use crate::config::trust::TrustChoice;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::hosts;

use crate::cli::args::ValidateArgs;
use crate::cli::decide::startup::choice;
use crate::cli::decide::unbound::SearchedPlaces;
use crate::cli::exit::Result;
use crate::cli::look::findings::Findings;
use crate::cli::problems::problems_of;

/// Checks everything: 0 no errors, 1 errors, 2 could not check.
pub(crate) fn validate(args: &ValidateArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let choice = choice(&args.hooks.source, env, &args.hooks.dialect);
    let choice = Choice {
        trust: Some(TrustChoice::Told),
        ..choice
    };
    let config = Config::load(&choice, env, ConfigScope::All);
    let config = config.for_host(hosts::find(&args.hooks.dialect));
    let mut findings = Findings::default();
    for file in config
        .layers
        .iter()
        .flat_map(|layer| layer.manifests.iter().chain(&layer.settings))
    {
        findings.check(file);
    }
    for hook in &config.hooks {
        findings.check(&hook.source.file).hooks += 1;
        findings.extend(problems_of(hook, env));
    }
    let unbound = SearchedPlaces {
        choice: &choice,
        env,
    }
    .problems(&config);
    findings.extend(config.problems.into_iter().chain(unbound));
    findings.tidy();
    findings.report(args.format, env, out)
}
