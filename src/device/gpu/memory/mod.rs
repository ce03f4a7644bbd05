//! Device memory: its plan and its contents.
//!
//! | module | contents |
//! | --- | --- |
//! | [`request`] | the run that memory is planned for |
//! | [`plan`] | the shares of attributes, pages and working memory, before a run |
//! | [`sizes`] | sizes that depend on the graph and on attributes alone |
//! | [`arena`] | slots for pages, and the page in each slot |
//! | [`images`] | how many packed pages a launch decodes |
//! | [`batches`] | sizes of the buffers that describe launches |
//! | [`buffers`] | buffers of the graph and of a run's attributes |
//! | [`rows`] | the slots where units begin, for each page |
//! | [`pool_import`] | the page pool, imported in the background |
//! | [`home`] | an open adapter between runs, with the buffers that it keeps |
//!
//! Called by the driver, which owns the parts during a run; [`home`] also by the engine's roster. Knows the graph and
//! the declaration of attributes; not supersteps, launches or messages.

pub mod arena;
pub mod batches;
pub mod buffers;
pub mod home;
pub mod images;
pub mod plan;
pub mod pool_import;
pub mod request;
pub mod rows;
pub mod sizes;

#[cfg(test)]
mod tests;
