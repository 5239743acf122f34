package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/segmentio/kafka-go/protocol"

	"github.com/eerf-stream/eerf/pipeline"
)

// wire is a connection with the response ready to read.
type wire struct {
	io.Reader
	io.Writer
}

// testLog is the identity of the topic that tests ask for.
const testLog pipeline.LogID = "AAECAwQFBgcICQoLDA0ODw"

// fetchVersions are the versions that can be read.
var fetchVersions = []int16{4, 5, 6, 7, 8, 9, 10, 11, fetchByID}

// testFetches makes fetches of partitions 3, 4 and 5 of a topic. They share memory for two sets of the largest size.
func testFetches() (fetches []*pendingFetch) {
	memory := &account{limit: 400}
	for partition := 3; partition <= 5; partition++ {
		fetches = append(fetches, &pendingFetch{partitionKey: partitionKey{"t", partition}, log: testLog, maxSet: 100, memory: memory, done: make(chan struct{}),
			need: func(set, aborted int) int64 { return 2*int64(set) + 16*int64(aborted) }})
	}
	return fetches
}

// exchange gives a response to the fetches.
func exchange(version int16, response []byte, fetches ...*pendingFetch) error {
	c := &Client{config: DefaultConfig()}
	to := &leader{id: 1}
	to.fetchVersion.Store(int32(version))
	e := newFetchExchange(c, to, fetches, 0)
	e.correlation = 42
	e.Required(map[protocol.ApiKey]int16{protocol.Fetch: min(version, maxFetchVersion)})
	_, err := e.RawExchange(wire{bytes.NewReader(response), io.Discard})
	return err
}

// exchangeOne gives a response to a fetch of partition 3 alone. An empty response counts too.
func exchangeOne(version int16, response []byte) (*fetchResponse, error) {
	a := testFetches()[0]
	if err := exchange(version, response, a); err != nil {
		return nil, err
	}
	if latest, ok := a.waits(); ok {
		return latest, nil
	}
	return a.response, a.err
}

// encodeResponse encodes a response about one partition with one aborted transaction.
func encodeResponse(version int16, code int16, set []byte) []byte {
	return encodeParts(version, part{partition: 3, code: code, aborted: 1, set: set})
}

func TestFetchAnswersOfEveryVersion(t *testing.T) {
	set := []byte("a record set")
	for _, version := range fetchVersions {
		got, err := exchangeOne(version, encodeResponse(version, 0, set))
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		logStart := int64(5)
		if version < 5 {
			logStart = 0
		}
		if got.code != 0 || got.end != 6 || got.logStart != logStart || !bytes.Equal(got.set, set) ||
			len(got.aborted) != 1 || got.aborted[0] != (abortedTransaction{8, 9}) {
			t.Errorf("version %d: %+v", version, got)
		}
		if want := map[bool]pipeline.LogID{true: testLog}[version == fetchByID]; got.log != want {
			t.Errorf("version %d: of log %q, not %q", version, got.log, want)
		}
		if got, err := exchangeOne(version, encodeResponse(version, 1, nil)); err != nil || got.code != 1 || got.set != nil {
			t.Errorf("version %d: %+v, %v", version, got, err)
		}
	}
	if _, err := exchangeOne(3, nil); err == nil {
		t.Error("version 3 is understood")
	}
}

func TestFetchAnswersThatLie(t *testing.T) {
	for _, version := range []int16{maxFetchVersion, fetchByID} {
		testAnswersThatLie(t, version)
	}
}

func testAnswersThatLie(t *testing.T, version int16) {
	whole := encodeResponse(version, 0, make([]byte, 80))
	for cut := range whole {
		if _, err := exchangeOne(version, whole[:cut]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		// Lengths that are too long or negative, at every position.
		for _, value := range []uint32{0x7fffffff, 0xffffff00, 1 << 20} {
			bent := bytes.Clone(whole)
			if cut+4 <= len(bent) {
				binary.BigEndian.PutUint32(bent[cut:], value)
				exchangeOne(version, bent)
			}
		}
	}
	other := bytes.Clone(whole)
	other[7]++
	if _, err := exchangeOne(version, other); err == nil {
		t.Error("a response to another request is taken")
	}
	if _, err := exchangeOne(version, append(whole, 0)); err != nil {
		t.Errorf("what follows is not the response's: %v", err)
	}
}

// TestAnswersClaimWhatTheyDoNotHave uses consistent lengths and counts of gigabytes that never arrive.
func TestAnswersClaimWhatTheyDoNotHave(t *testing.T) {
	be := binary.BigEndian
	whole := encodeResponse(11, 0, nil)
	be.PutUint32(whole, 1<<31-1)
	be.PutUint32(whole[len(whole)-28:], 1<<26) // aborted transactions instead of one; replica and record set follow
	before := allocatedBytes()
	if _, err := exchangeOne(11, whole); !errors.Is(err, io.ErrUnexpectedEOF) {
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
