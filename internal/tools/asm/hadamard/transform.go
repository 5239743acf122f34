package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// noSplit is the assembler's NOSPLIT.
const noSplit = 4

// row is what the passes over a row share: where it is, and its length in bytes.
type row struct {
	dst, src, diag, size reg.GPVirtual
}

// transform writes the transform of rows. A row that the registers of the last pass hold needs no other pass.
func (v isa) transform() {
	TEXT("transform"+v.name, noSplit, "func(dst *float32, src *float32, diag *float32, n int, rows int)")
	Pragma("noescape")
	Doc(v.transformDoc()...)
	r := row{dst: load("dst"), src: load("src"), diag: load("diag"), size: load("n")}
	rows := load("rows")
	SHLQ(U8(2), r.size)
	v.loadSigns()
	for vectors := 1; vectors <= radix; vectors *= 2 {
		CMPQ(r.size, U32(vectors*v.bytes()))
		JEQ(LabelRef(wholeRow(vectors)))
	}
	Label("longRow")
	v.middle(r, v.first(r))
	v.last(r)
	v.nextRow(r, rows, "longRow")
	for vectors := 1; vectors <= radix; vectors *= 2 {
		Label(wholeRow(vectors))
		h := v.load(contiguous(r.src, v), contiguous(r.diag, v), vectors)
		h.acrossVectors()
		h.acrossLanes()
		h.store(contiguous(r.dst, v))
		v.nextRow(r, rows, wholeRow(vectors))
	}
}

// wholeRow is the label of the code for rows of so many vectors.
func wholeRow(vectors int) string { return "rowOf" + strconv.Itoa(vectors) }

func (v isa) transformDoc() []string {
	return []string{
		"transform" + v.name + " sets each of rows rows of dst to the transform of diag times the row of src; n is a power of two",
		"and at least " + strconv.Itoa(v.lanes) + ", dst may be src.",
		"",
		"	for r := range rows {",
		"		row := dst[r*n : (r+1)*n]",
		"		for j := range n {",
		"			row[j] = src[r*n+j] * diag[j]",
		"		}",
		"		for stride := n / 2; stride > 0; stride /= 2 {",
		"			for j := range n {",
		"				if j&stride == 0 {",
		"					row[j], row[j+stride] = row[j]+row[j+stride], row[j]-row[j+stride]",
		"				}",
		"			}",
		"		}",
		"	}",
	}
}

// nextRow moves to the next row and jumps to label, or returns after the last.
func (v isa) nextRow(r row, rows reg.GPVirtual, label string) {
	ADDQ(r.size, r.dst)
	ADDQ(r.size, r.src)
	DECQ(rows)
	JNZ(LabelRef(label))
	VZEROUPPER()
	RET()
}

// load returns the register of a parameter.
func load(name string) reg.GPVirtual {
	r := GP64()
	Load(Param(name), r)
	return r
}
