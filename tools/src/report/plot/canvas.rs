//! SVG whose colours are classes: the page's style sheet gives them one colour on light ground and another on dark.
//! plotters' own SVG writes colours as numbers.

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};
use std::convert::Infallible;
use std::fmt::Write;

/// plotters' integers in a unit of the picture.
pub const SCALE: i32 = 10;
/// The height of a line of text, in units of the picture.
const TEXT_HEIGHT: f64 = 11.0;
/// The mean width of a letter or digit.
const LETTER_WIDTH: f64 = 6.3;

/// A picture under construction.
pub struct Canvas<'a> {
    svg: &'a mut String,
    size: (u32, u32),
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// A coordinate in units of the picture: plotters has integers only, which are finer.
fn units(coordinate: i32) -> f64 {
    f64::from(coordinate) / f64::from(SCALE)
}

/// The class of a colour: its number, and whether lines are dashed.
fn class(kind: char, color: BackendColor) -> String {
    let (_, dashed, number) = color.rgb;
    format!("{kind}{number}{}", if dashed > 0 { " dashed" } else { "" })
}

fn width(style: &impl BackendStyle) -> f64 {
    f64::from(style.stroke_width()) / f64::from(SCALE)
}

/// Appends text with what XML reserves escaped.
pub fn escape(text: &str, into: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            _ => into.push(letter),
        }
    }
}

impl<'a> Canvas<'a> {
    /// A picture of this size, in integers of plotters; its elements are appended to `svg`.
    pub fn new(svg: &'a mut String, size: (u32, u32)) -> Self {
        Self { svg, size }
    }

    fn points(&mut self, element: &str, points: impl IntoIterator<Item = BackendCoord>) {
        write!(self.svg, "<{element} points=\"").ok();
        for (number, (x, y)) in points.into_iter().enumerate() {
            let blank = if number > 0 { " " } else { "" };
            write!(self.svg, "{blank}{},{}", units(x), units(y)).ok();
        }
        self.svg.push('"');
    }
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect(at, at, &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, fill: bool) -> Drawn {
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        let (x, y) = (units(from.0.min(to.0)), units(from.1.min(to.1)));
        let (width, height) = (units((to.0 - from.0).abs()), units((to.1 - from.1).abs()));
        let class = class(if fill { 'f' } else { 's' }, style.color());
        write!(self.svg, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>").ok();
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        if style.color().alpha > 0.0 {
            self.points("polyline", path);
            write!(self.svg, " class=\"{}\" stroke-width=\"{}\"/>", class('s', style.color()), width(style)).ok();
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, center: BackendCoord, radius: u32, style: &S, fill: bool) -> Drawn {
        let (x, y, radius) = (units(center.0), units(center.1), f64::from(radius) / f64::from(SCALE));
        let class = class(if fill { 'f' } else { 's' }, style.color());
        write!(self.svg, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>").ok();
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, corners: I, style: &S) -> Drawn {
        self.points("polygon", corners);
        write!(self.svg, " class=\"{}\"/>", class('f', style.color())).ok();
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Drawn {
        let (mut x, mut y) = (units(at.0), units(at.1));
        let anchor = match style.anchor().h_pos {
            HPos::Left => "start",
            HPos::Center => "middle",
            HPos::Right => "end",
        };
        // Towards the foot of the letters, which rotation turns.
        let down = match style.anchor().v_pos {
            VPos::Top => 0.8 * TEXT_HEIGHT,
            VPos::Center => 0.34 * TEXT_HEIGHT,
            VPos::Bottom => -0.2 * TEXT_HEIGHT,
        };
        let degrees = match style.transform() {
            FontTransform::None => 0,
            FontTransform::Rotate90 => 90,
            FontTransform::Rotate180 => 180,
            FontTransform::Rotate270 => 270,
        };
        match degrees {
            0 => y += down,
            90 => x -= down,
            180 => y -= down,
            _ => x += down,
        }
        let rotation =
            if degrees == 0 { String::new() } else { format!(" transform=\"rotate({degrees},{x:.1},{y:.1})\"") };
        let class = class('t', style.color());
        write!(self.svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{rotation}>").ok();
        escape(text, self.svg);
        self.svg.push_str("</text>");
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        _style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let width = LETTER_WIDTH * text.chars().count() as f64 * f64::from(SCALE);
        Ok((width as u32, (TEXT_HEIGHT * f64::from(SCALE)) as u32))
    }
}
