//! topostream
