//! Charts: plain marks on two axes, drawn by plotters as SVG.

mod axis;
mod canvas;

pub use axis::Axis;
use canvas::{Canvas, SCALE, escape};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_backend::BackendColor;
use std::convert::Infallible;
use std::fmt::Write;

/// The width and the height of a chart, in units of the picture: pixels, where it is shown at its own size.
const SIZE: (i32, i32) = (480, 250);

/// The number of a colour in the style sheet: 1 to 5 are the parts of time.
pub type Colour = u8;
/// Axes and their labels.
const TEXT: Colour = 0;
/// What stands out.
pub const ACCENT: Colour = 6;
/// Lines behind everything.
const GRID: Colour = 7;
/// What is there to be compared with.
pub const REFERENCE: Colour = 8;

/// A mark, in values of the axes.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A bar from one corner to the other.
    Bar {
        /// One corner.
        from: (f64, f64),
        /// The other.
        to: (f64, f64),
        /// Its colour.
        colour: Colour,
    },
    /// A line through points.
    Line {
        /// The points.
        points: Vec<(f64, f64)>,
        /// Its colour.
        colour: Colour,
        /// Whether it is dashed.
        dashed: bool,
    },
    /// A dot.
    Dot {
        /// Its place.
        at: (f64, f64),
        /// Its colour.
        colour: Colour,
        /// Its radius, in units of the picture.
        radius: f64,
    },
}

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows, as text for screen readers.
    pub label: String,
    /// The axis below.
    pub x: Axis,
    /// The axis at the left.
    pub y: Axis,
    /// What is drawn, the first at the bottom.
    pub marks: Vec<Mark>,
}

/// The number of a colour, as plotters hands it on to the canvas.
fn colour(number: Colour) -> RGBColor {
    RGBColor(0, 0, number)
}

fn scaled(units: f64) -> u32 {
    (units * f64::from(SCALE)).round() as u32
}

fn line(number: Colour, width: f64) -> ShapeStyle {
    ShapeStyle::from(colour(number)).stroke_width(scaled(width))
}

fn text(number: Colour, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    // The style sheet has the size.
    let color = BackendColor { alpha: 1.0, rgb: (0, 0, number) };
    TextStyle { color, pos: Pos::new(horizontal, vertical), ..("sans-serif", SCALE).into() }
}

impl Chart {
    /// The chart as an SVG element.
    pub fn svg(&self) -> String {
        let (width, height) = SIZE;
        let mut svg = format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"");
        escape(&self.label, &mut svg);
        svg.push_str("\">");
        let drawn = self.draw(Canvas::new(&mut svg, ((width * SCALE) as u32, (height * SCALE) as u32)));
        if let Err(error) = drawn {
            write!(svg, "<!-- {} -->", error.to_string().replace("--", "")).ok();
        }
        svg + "</svg>"
    }

    fn draw(&self, canvas: Canvas<'_>) -> Result<(), DrawingAreaErrorKind<Infallible>> {
        let area = canvas.into_drawing_area();
        let labels = self.y.ticks.iter().map(|&tick| self.y.label(tick).chars().count()).max().unwrap_or(0);
        let mut chart = ChartBuilder::on(&area)
            .margin_top(scaled(8.0))
            .margin_right(scaled(14.0))
            .x_label_area_size(scaled(36.0))
            .y_label_area_size(scaled(30.0 + 6.4 * labels.max(3) as f64))
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(line(GRID, 1.0))
            .light_line_style(TRANSPARENT)
            .axis_style(line(TEXT, 1.0))
            .x_label_style(text(TEXT, HPos::Center, VPos::Top))
            .y_label_style(text(TEXT, HPos::Right, VPos::Center))
            .axis_desc_style(text(TEXT, HPos::Center, VPos::Top))
            .set_all_tick_mark_size(scaled(4.0))
            .x_desc(self.x.title.as_str())
            .y_desc(self.y.title.as_str())
            .x_label_formatter(&|position| self.x.label(*position))
            .y_label_formatter(&|position| self.y.label(*position))
            .draw()?;
        let place = |(x, y): (f64, f64)| (self.x.position(x), self.y.position(y));
        for mark in &self.marks {
            match mark {
                Mark::Bar { from, to, colour: of } => {
                    chart.draw_series([Rectangle::new([place(*from), place(*to)], colour(*of).filled())])?;
                }
                Mark::Line { points, colour: of, dashed } => {
                    let style = RGBColor(0, u8::from(*dashed), *of);
                    let points: Vec<_> = points.iter().copied().map(place).collect();
                    chart.draw_series([PathElement::new(points, ShapeStyle::from(style).stroke_width(scaled(1.8)))])?;
                }
                Mark::Dot { at, colour: of, radius } => {
                    chart.draw_series([Circle::new(place(*at), scaled(*radius), colour(*of).filled())])?;
                }
            }
        }
        Ok(())
    }
}
