//! Properties of deletion vectors.

mod bitmap;
mod descriptor;
mod file;
mod naive;
mod ranges;
mod written_containers;
mod z85;
