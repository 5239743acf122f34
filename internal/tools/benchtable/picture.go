package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	pictureColumns = 3
	panelWidth     = 290 * vg.Length(0.75) // a pixel is ¾ of a point
	panelHeight    = 240 * vg.Length(0.75)
)

// paper is nearly white and opaque: the pictures stand on light and on dark pages.
var paper = color.RGBA{252, 252, 250, 255}

// drawPicture writes one picture: a panel for each varied key, points for what was measured, lines for the model.
func drawPicture(path string, panels []panel, f fitted) error {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	low, high := timeRange(panels)
	var tiles [][]*plot.Plot
	for i, p := range panels {
		if i%pictureColumns == 0 {
			tiles = append(tiles, make([]*plot.Plot, pictureColumns))
		}
		drawn, err := p.plot(f, i == 0)
		if err != nil {
			return fmt.Errorf("draw %s along %s: %w", p.benchmark, p.vary, err)
		}
		drawn.Y.Min, drawn.Y.Max = low, high
		tiles[i/pictureColumns][i%pictureColumns] = drawn
	}
	return writeSVG(path, layOut(tiles))
}

// layOut draws plots on a grid; nil leaves its place empty.
func layOut(tiles [][]*plot.Plot) *vgsvg.Canvas {
	canvas := vgsvg.New(pictureColumns*panelWidth, vg.Length(len(tiles))*panelHeight)
	dc := draw.New(canvas)
	dc.SetColor(paper)
	dc.Fill(dc.Path())
	const gap = 7
	grid := draw.Tiles{
		Rows: len(tiles), Cols: pictureColumns,
		PadX: gap, PadY: gap, PadTop: gap, PadBottom: gap, PadLeft: gap, PadRight: gap,
	}
	for i, row := range plot.Align(tiles, grid, dc) {
		for j, c := range row {
			if tiles[i][j] != nil {
				tiles[i][j].Draw(c)
			}
		}
	}
	return canvas
}

// writeSVG writes a canvas, with fonts to fall back on where the one that it was laid out with is not installed:
// Arial has the same widths.
func writeSVG(path string, canvas *vgsvg.Canvas) error {
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	const family = "font-family:Liberation Sans"
	text := bytes.ReplaceAll(svg.Bytes(), []byte(family), []byte(family+",Arial,Helvetica,sans-serif"))
	return os.WriteFile(path, text, 0o666)
}

// timeRange returns the axis that holds the times of all panels.
func timeRange(panels []panel) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		for _, s := range p.series {
			for _, l := range s.points {
				low, high = min(low, l.median(seconds)), max(high, l.median(seconds))
			}
		}
	}
	return low / 1.5, high * 1.5
}
