package wire

import "testing"

// Before the first exploration only whole messages are reported, the rows of the others are not.
func TestReportedOffsets(t *testing.T) {
	spec := &Spec{}
	note := spec.EditNote(3)
	note.ReportedFrom, note.ReportedTo, note.ReportedWhole = 5, 9, true
	for offset, want := range map[int64]bool{4: false, 5: true, 8: true, 9: false} {
		if spec.Note(3).Reported(offset, true) != want || spec.Note(3).Reported(offset, false) {
			t.Errorf("offset %d: note %+v", offset, spec.Note(3))
		}
	}
	note.AddReported(7, 20) // by an exploration, which reports both
	if got := spec.Note(3); got.Reported(6, false) || !got.Reported(7, false) || !got.Reported(19, true) {
		t.Errorf("note %+v", got)
	}
}
