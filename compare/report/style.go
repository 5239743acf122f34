package report

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// style is how a method looks in every plot.
type style struct {
	color  color.RGBA
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

// Colours that can be told apart on white and on dark grey.
var (
	grey   = color.RGBA{0x8a, 0x8a, 0x8a, 0xff}
	orange = color.RGBA{0xf0, 0x8a, 0x00, 0xff}
	blue   = color.RGBA{0x25, 0x82, 0xe6, 0xff}
	red    = color.RGBA{0xe0, 0x36, 0x36, 0xff}
	green  = color.RGBA{0x2c, 0xa0, 0x2c, 0xff}
	teal   = color.RGBA{0x12, 0xa5, 0xa0, 0xff}
	violet = color.RGBA{0xa0, 0x6c, 0xd5, 0xff}
	brown  = color.RGBA{0xb0, 0x70, 0x50, 0xff}
	pink   = color.RGBA{0xe0, 0x62, 0xb5, 0xff}
)

// styles are those of the methods: solid lines for plain features and for methods that check labels one candidate at
// a time, dashes for others, dots for variants.
var styles = map[string]style{
	"plain":            {grey, nil, draw.CircleGlyph{}},
	"plain-tuned":      {grey, dashed, draw.RingGlyph{}},
	"linear":           {ink, dotted, draw.CrossGlyph{}},
	"orf":              {teal, dashed, draw.SquareGlyph{}},
	"sorf":             {green, dashed, draw.BoxGlyph{}},
	"qmc":              {pink, dashed, draw.TriangleGlyph{}},
	"ses":              {brown, dashed, draw.PyramidGlyph{}},
	"leverage":         {brown, dotted, draw.TriangleGlyph{}},
	"leverage-top":     {pink, dotted, draw.RingGlyph{}},
	"lkrf":             {violet, dashed, draw.SquareGlyph{}},
	"lkrf-best":        {violet, dotted, draw.BoxGlyph{}},
	"energy":           {orange, nil, draw.CircleGlyph{}},
	"correlation":      {blue, nil, draw.SquareGlyph{}},
	"residual":         {red, nil, draw.PyramidGlyph{}},
	"adaptive":         {green, nil, draw.CircleGlyph{}},
	"adaptive-refined": {violet, nil, draw.SquareGlyph{}},

	// names of other programs in results
	"lightgbm":               {brown, dashed, draw.PyramidGlyph{}},
	"hist-gradient-boosting": {orange, dashed, draw.BoxGlyph{}},
}

var (
	dashed = []vg.Length{vg.Points(6), vg.Points(3)}
	dotted = []vg.Length{vg.Points(1.5), vg.Points(2.5)}
)

// styleOf is the style of a method, the same in all plots and reports.
func styleOf(method string) style {
	if s, ok := styles[method]; ok {
		return s
	}
	return style{color: green, glyph: draw.CrossGlyph{}}
}

// ink and faint are the colours of text and of the grid on white; the page replaces them by those of the reader's
// screen.
var (
	ink   = color.RGBA{0x22, 0x22, 0x22, 0xff}
	faint = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	paper = color.RGBA{0xfe, 0xfe, 0xfe, 0xff}
)

const (
	inkCSS   = "#222222"
	faintCSS = "#DDDDDD"
	paperCSS = "#FEFEFE"
	bestCSS  = "#EAF4E4" // background of the best
)

// colorCSS writes a colour.
func colorCSS(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
