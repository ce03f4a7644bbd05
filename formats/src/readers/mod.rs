//! Readers of edge-list formats.
