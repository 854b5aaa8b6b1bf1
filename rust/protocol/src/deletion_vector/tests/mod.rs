//! Properties of deletion vectors.

mod bitmap;
mod descriptor;
mod file;
mod made;
mod naive;
mod ranges;
mod z85;
