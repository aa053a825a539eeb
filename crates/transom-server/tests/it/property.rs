//! What holds for every input; the fuzz targets use the same files.

pub(crate) mod proxy;
