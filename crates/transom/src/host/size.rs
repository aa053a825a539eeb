//! How large a view may make its frame.

use crate::wire::{Axis, ContainerDimensions, SizeChangedParams};

/// A frame's size in CSS pixels. An axis that the host fixed is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// The width to follow.
    pub width: Option<f64>,
    /// The height to follow.
    pub height: Option<f64>,
}

/// What of a report the host follows: nothing on a fixed axis, no more than the maximum on a
/// bounded one, and never more than [`LARGEST`] (H-85, H-86).
pub(super) fn clamp(report: SizeChangedParams, dimensions: Option<&ContainerDimensions>) -> Size {
    let (width, height) = match dimensions {
        Some(dimensions) => (dimensions.width, dimensions.height),
        None => (Axis::Free, Axis::Free),
    };
    Size { width: follow(report.width, width), height: follow(report.height, height) }
}

/// Whether the difference is worth a change: growing always is, shrinking by a few pixels is the echo
/// of our own resizing.
pub(super) fn matters(old: Size, new: Size) -> bool {
    let axis = |old: Option<f64>, new: Option<f64>| match (old, new) {
        (Some(old), Some(new)) => new > old || old - new > ECHO,
        (None, new) => new.is_some(),
        (Some(_), None) => false,
    };
    axis(old.width, new.width) || axis(old.height, new.height)
}

fn follow(report: Option<f64>, axis: Axis) -> Option<f64> {
    let report = report.filter(|size| size.is_finite())?;
    match axis {
        Axis::Fixed(_) => None,
        Axis::AtMost(most) => Some(report.min(most).clamp(0.0, LARGEST)),
        Axis::Free => Some(report.clamp(0.0, LARGEST)),
    }
}

/// No page is larger, and no view makes the host's page so.
const LARGEST: f64 = 100_000.0;
/// Shrinking by less than this many pixels is ignored.
const ECHO: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn clamped(
        width: Option<f64>,
        height: Option<f64>,
        axes: (Axis, Axis),
    ) -> (Option<f64>, Option<f64>) {
        let dimensions = ContainerDimensions { width: axes.0, height: axes.1 };
        let size = clamp(SizeChangedParams { width, height }, Some(&dimensions));
        (size.width, size.height)
    }

    #[test]
    fn h_86_each_axis_by_its_own_rule() {
        use Axis::{AtMost, Fixed, Free};
        #[rustfmt::skip]
        let table = [
            // reported                    container                     followed
            ((Some(300.0), Some(900.0)),   (Fixed(400.0), AtMost(600.0)), (None, Some(600.0))),
            ((Some(300.0), Some(200.5)),   (Free, AtMost(600.0)),         (Some(300.0), Some(200.5))),
            ((None, Some(200.0)),          (Free, Free),                  (None, Some(200.0))),
            ((Some(1e300), Some(-5.0)),    (Free, Free),                  (Some(LARGEST), Some(0.0))),
            ((Some(f64::NAN), Some(f64::INFINITY)), (Free, Free),         (None, None)),
            ((Some(9.0), Some(9.0)),       (AtMost(-1.0), AtMost(1e12)),  (Some(0.0), Some(9.0))),
        ];
        for ((width, height), axes, expected) in table {
            assert_eq!(clamped(width, height, axes), expected, "{width:?} {height:?} in {axes:?}");
        }
    }

    #[test]
    fn h_86_a_small_shrink_is_an_echo() {
        let size = |height| Size { width: None, height: Some(height) };
        assert!(matters(Size::default(), size(100.0)));
        assert!(matters(size(100.0), size(101.0)));
        assert!(!matters(size(100.0), size(98.0)));
        assert!(matters(size(100.0), size(90.0)));
        assert!(!matters(size(100.0), size(100.0)));
    }
}
