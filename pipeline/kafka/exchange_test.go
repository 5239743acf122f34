package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline"
)

// wire is a connection with the response ready to read.
type wire struct {
	io.Reader
	io.Writer
}

// testLog is the identity of the requested topic.
const testLog pipeline.LogID = "AAECAwQFBgcICQoLDA0ODw"

// testFetches makes fetches of partitions 3, 4 and 5 of a topic. They share memory for two sets of
// the largest size.
func testFetches() (fetches []*pendingFetch) {
	memory := &account{limit: 400}
	for partition := 3; partition <= 5; partition++ {
		fetches = append(
			fetches,
			&pendingFetch{
				partitionKey: partitionKey{"t", partition},
				log:          testLog,
				maxSet:       100,
				memory:       memory,
				done:         make(chan struct{}),
				need:         func(set, aborted int) int64 { return 2*int64(set) + 16*int64(aborted) },
			},
		)
	}
	return fetches
}

// exchange answers the fetches with a response.
func exchange(response []byte, fetches ...*pendingFetch) error {
	c := &Client{config: DefaultConfig(), formatter: kmsg.NewRequestFormatter()}
	e := newFetchExchange(c, 1, fetches, 0)
	e.correlation = 42
	_, err := e.RawExchange(wire{bytes.NewReader(response), io.Discard})
	return err
}

// exchangeOne answers a fetch of partition 3 alone, also with an empty response.
func exchangeOne(response []byte) (*fetchResponse, error) {
	a := testFetches()[0]
	if err := exchange(response, a); err != nil {
		return nil, err
	}
	if latest, ok := a.waits(); ok {
		return latest, nil
	}
	return a.response, a.err
}

func TestFetchResponse(t *testing.T) {
	set := []byte("a record set")
	got, err := exchangeOne(encodeParts(part{partition: 3, aborted: 1, set: set}))
	if err != nil {
		t.Fatal(err)
	}
	if got.code != 0 || got.end != 6 || !bytes.Equal(got.set, set) || got.log != testLog ||
		len(got.aborted) != 1 || got.aborted[0] != (abortedTransaction{8, 9}) {
		t.Errorf("response %+v", got)
	}
}

func TestFalseFetchResponsesAreErrors(t *testing.T) {
	whole := encodeParts(part{partition: 3, aborted: 1, set: make([]byte, 80)})
	for cut := range whole {
		if _, err := exchangeOne(whole[:cut]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		// Lengths that are too long or negative, at every position.
		for _, value := range []uint32{0x7fffffff, 0xffffff00, 1 << 20} {
			bent := bytes.Clone(whole)
			if cut+4 <= len(bent) {
				binary.BigEndian.PutUint32(bent[cut:], value)
				exchangeOne(bent)
			}
		}
	}
	other := bytes.Clone(whole)
	other[7]++
	if _, err := exchangeOne(other); err == nil {
		t.Error("accepted the response to another request")
	}
	if _, err := exchangeOne(append(whole, 0)); err != nil {
		t.Errorf("read beyond the end of the response: %v", err)
	}
}

// TestFalseSizesInResponsesAllocateLittle uses consistent lengths and counts of gigabytes that
// never arrive.
func TestFalseSizesInResponsesAllocateLittle(t *testing.T) {
	whole := encodeParts(part{partition: 3, aborted: 1})
	binary.BigEndian.PutUint32(whole, 1<<31-1)
	count := bytes.Index(whole, []byte{7: 8, 15: 9}) - 1 // position of the number of aborted transactions
	whole = append(binary.AppendUvarint(bytes.Clone(whole[:count]), 1<<26), whole[count+1:]...)
	before := allocatedBytes()
	if _, err := exchangeOne(whole); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	if spent := allocatedBytes() - before; spent > 1<<20 {
		t.Errorf("%d bytes allocated for a response of %d", spent, len(whole))
	}
}

func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
