// Package show draws layouts as SVG: a layout's offsets, a TV layout over a tile, the operands of an MMA atom or of a
// TiledMMA, both sides of a TiledCopy, and a tile in shared memory by banks.
//
// The functions named after what they draw return a Picture; Picture.SVG prints one and Page puts several on one HTML
// page. A picture is self-contained, has a light and a dark form (prefers-color-scheme), and names in every cell what
// its colour says. Pointing at a cell in a browser shows all of its threads and values.
package show
