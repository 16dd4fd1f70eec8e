//! The five hook systems: their documents sentence by sentence, and their tables row by row.

mod loom;
mod rows;
mod same;
