package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scoreAVX512 generates the kernel that both multiplies tiles of rows and adds to the sums, so that
// the sums of a tile overlap with the products of the next one.
func scoreAVX512() {
	const name = "scoreAVX512"
	TEXT(name, noSplit, "func(phi *float32, sum, square, product *float64, stride int, "+
		"y *float32, yStride int, class *int32, "+
		"init *float32, initStride int, x *float32, xStride int, w *float32, dim int, rows int, op int)")
	Pragma("noescape")
	Doc(
		name+" adds the 48 features of a panel for rows, a positive multiple of 8, to their sums, in the order of the rows.",
		"phi is temporary memory for the features of 8 rows.",
		"",
		"	features(phi, 48, init, initStride, x, xStride, w, dim, rows, nil, op)",
		"	if class == nil {",
		"		valueSums(sum, square, product, phi, rows, y, yStride)",
		"	} else {",
		"		classSums(sum, square, product, phi, rows, class, stride)",
		"	}",
	)
	align()
	t := tile{isa: avx512, rows: 8, vectors: 3, prefix: "score"}
	phi := load("phi")
	from := load("init")
	x := load("x")
	rows := load("rows")
	y, class := load("y"), load("class")
	Label("scoreRows")
	t.start(from)
	t.products(x)
	t.apply()
	Label(t.label("Store"))
	for r := range t.rows {
		for v := range t.vectors {
			VMOVUPS(t.acc(r, v), Mem{Base: phi, Disp: 4*panel*r + v*t.bytes})
		}
	}
	TESTQ(class, class)
	JNZ(LabelRef("scoreClasses"))
	t.tileValues(phi, y)
	JMP(LabelRef("scoreNext"))
	Label("scoreClasses")
	t.tileClasses(phi, class)
	Label("scoreNext")
	for _, p := range []struct {
		pointer reg.Register
		stride  string
	}{{from, "initStride"}, {x, "xStride"}} {
		bytes := loadBytes(p.stride)
		SHLQ(U8(3), bytes)
		ADDQ(bytes, p.pointer)
	}
	SUBQ(U8(8), rows)
	JNZ(LabelRef("scoreRows"))
	VZEROUPPER()
	RET()
}

func (t tile) tileValues(phi, y reg.GPVirtual) {
	size := t.doubles()
	totals := [][]reg.Register{t.regs[:size], t.regs[size : 2*size], t.regs[2*size : 3*size]}
	pointers := []reg.Register{load("sum"), load("square"), load("product")}
	t.loadTotals(pointers, totals, 0)
	v, value := t.regs[3*size], t.regs[3*size+1]
	bytes := loadBytes("yStride")
	for r := range t.rows {
		t.broadcastDouble(Mem{Base: y}, value)
		ADDQ(bytes, y)
		for i := range size {
			widen(Mem{Base: phi, Disp: 4*panel*r + i*t.bytes/2}, v)
			VADDPD(v, totals[0][i], totals[0][i])
			VFMADD231PD(v, v, totals[1][i])
			VFMADD231PD(v, value, totals[2][i])
		}
	}
	t.storeTotals(pointers, totals, 0)
}

func (t tile) tileClasses(phi, class reg.GPVirtual) {
	size := t.doubles()
	totals := [][]reg.Register{t.regs[:size], t.regs[size : 2*size]}
	pointers := []reg.Register{load("sum"), load("square")}
	t.loadTotals(pointers, totals, 0)
	classes := load("product")
	stride := load("stride")
	own := GP64()
	SHLQ(U8(3), stride)
	for r := range t.rows {
		MOVLQSX(Mem{Base: class, Disp: 4 * r}, own)
		IMULQ(stride, own)
		ADDQ(classes, own)
		for i := range size {
			v, total := t.regs[2*size+2*(i%4)], t.regs[2*size+2*(i%4)+1]
			widen(Mem{Base: phi, Disp: 4*panel*r + i*t.bytes/2}, v)
			VADDPD(v, totals[0][i], totals[0][i])
			VFMADD231PD(v, v, totals[1][i])
			VADDPD(lanes(own, i, t.bytes), v, total)
			VMOVUPD(total, lanes(own, i, t.bytes))
		}
	}
	ADDQ(U8(32), class)
	t.storeTotals(pointers, totals, 0)
}
