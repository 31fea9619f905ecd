// Package plot draws figures with their intervals as SVG: one line each, on a
// logarithmic axis, light and dark.
package plot
