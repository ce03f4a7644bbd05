//! The page as plain data, and its template.

use super::plot::Colour;
use askama::Template;
use topostream_formats::text::printable;

/// How a page is to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A file of its own.
    Document,
    /// An element for another page, such as a notebook; its style sheet applies to itself only.
    Element,
}

/// A page. Text is escaped by the template.
#[derive(Debug, Default)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// What is below it.
    pub subtitle: String,
    /// The figures that matter most.
    pub tiles: Vec<Tile>,
    /// The tables of an answer.
    pub answer: Vec<Table>,
    /// What the time was spent on.
    pub verdict: Option<Verdict>,
    /// Charts.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// What ends it.
    pub footer: String,
}

/// A figure that matters.
#[derive(Debug)]
pub struct Tile {
    /// What it is.
    pub name: &'static str,
    /// The figure.
    pub value: String,
    /// More about it.
    pub note: String,
}

/// What the time of a run was spent on.
#[derive(Debug)]
pub struct Verdict {
    /// The parts that are not 0.
    pub parts: Vec<Segment>,
    /// What that means.
    pub sentences: Vec<String>,
}

/// A part of a whole.
#[derive(Debug)]
pub struct Segment {
    /// Its name.
    pub name: &'static str,
    /// Its colour.
    pub colour: Colour,
    /// What it is.
    pub what: &'static str,
    /// Its share, from 0 to 1.
    pub share: f64,
    /// Its size.
    pub size: String,
    /// Its share, for people.
    pub percent: String,
}

/// A chart.
#[derive(Debug)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// What there is to know about it.
    pub note: String,
    /// The names of its colours.
    pub legend: Vec<(Colour, String)>,
    /// The chart, as SVG.
    pub svg: String,
    /// The chart as a table.
    pub table: Table,
}

/// A table.
#[derive(Debug, Default)]
pub struct Table {
    /// Its title.
    pub title: String,
    /// What there is to know about it.
    pub note: String,
    /// The headings; none for pairs of a name and a value.
    pub header: Vec<String>,
    /// The rows; the first cell is the name of the row.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Debug, Default)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// A bar below it: its colour, and its length as a share of the longest, in percent.
    pub bar: Option<(Colour, String)>,
    /// Whether it is a number, which is aligned to the right.
    pub number: bool,
}

/// A text.
pub fn text(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), ..Cell::default() }
}

/// A number.
pub fn number(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), number: true, ..Cell::default() }
}

/// A number with a bar, whose length is a share of the longest.
pub fn bar(text: impl Into<String>, colour: Colour, share: f64) -> Cell {
    let length = format!("{:.1}", 100.0 * if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 });
    Cell { text: text.into(), bar: Some((colour, length)), number: true }
}

impl Table {
    /// A table of names and values, without those that are empty.
    pub fn pairs(title: &str, pairs: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let rows = pairs.into_iter().filter(|(_, value)| !value.is_empty());
        let rows = rows.map(|(name, value)| vec![text(name), text(value)]).collect();
        Self { title: title.into(), rows, ..Self::default() }
    }

    /// A table with headings.
    pub fn new(title: &str, header: &[&str], rows: Vec<Vec<Cell>>) -> Self {
        let header = header.iter().map(|&heading| heading.to_owned()).collect();
        Self { title: title.into(), header, rows, ..Self::default() }
    }
}

#[derive(Template)]
#[template(path = "report.html")]
struct Report<'a> {
    page: &'a Page,
    document: bool,
    style: &'static str,
}

impl Page {
    /// The page in HTML.
    pub fn html(&self, form: Form) -> String {
        let report = Report { page: self, document: form == Form::Document, style: include_str!("style.css") };
        let html = report.render().expect("writing to a string does not fail");
        // Names of vertices and a store's origin may hold characters that HTML does not allow, or that hide others.
        printable(&html).into_owned()
    }
}
