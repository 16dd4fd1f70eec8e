//! `hookrun test EVENT`: decide one event and show everything.

mod expectations;
mod report;
mod screen;
