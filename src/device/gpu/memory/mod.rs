//! Device memory: how it is shared out, and what is in it.
//!
//! | module | what |
//! | --- | --- |
//! | [`plan`] | the shares of attributes, pages and working memory, before a run |
//! | [`arena`] | slots for pages, and which page is in which |
//! | [`buffers`] | buffers of the graph and of a run's attributes |
//! | [`rows`] | where units begin in each page |
//! | [`pool_import`] | the page pool as the device reads it, imported in the background |
//! | [`home`] | an open adapter between runs, with what stays in its memory |
//!
//! Called by the driver, which owns the parts during a run; [`home`] also by the engine's roster. Knows the graph and
//! the declaration of attributes; not supersteps, launches or messages.

pub mod arena;
pub mod buffers;
pub mod home;
pub mod plan;
pub mod pool_import;
pub mod rows;
