package kafka_test

import (
	"errors"
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// faulty is a broker whose responses a test can replace, with a topic of one partition.
type faulty struct {
	*kfake.Cluster
	t      *testing.T
	client *kafka.Client
	topic  string
	warned *observer.ObservedLogs
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	f := &faulty{Cluster: cluster, t: t}
	core, logs := observer.New(zapcore.WarnLevel)
	f.warned = logs
	if f.client, err = kafka.New(config(cluster.ListenAddrs()), zap.New(core)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.client.Close() })
	f.topic = pipelinetest.NewTopic(t, f.client, 1, nil)
	return f
}

// open opens a writer with or without an id.
func (f *faulty) open(withID bool) pipeline.Producer {
	f.t.Helper()
	return openWriter(f.t, f.client, f.topic, withID)
}

func openWriter(t testing.TB, client *kafka.Client, topic string, withID bool) pipeline.Producer {
	t.Helper()
	var id *pipeline.WriterID
	if withID {
		id = &pipeline.WriterID{Group: "group", Topic: topic}
	}
	writer, err := pipeline.OpenWriter(pipelinetest.Context(t), client, zap.NewNop(), id, pipeline.Target{Topic: topic})
	if err != nil {
		t.Fatal(err)
	}
	return writer
}

func (f *faulty) fail(key kmsg.Key, err *kerr.Error, count int) {
	f.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: err, Count: count})
}

// holds fails unless the log holds exactly these values, at any offsets.
func (f *faulty) holds(want string) {
	f.t.Helper()
	_, end, err := f.client.Offsets(pipelinetest.Context(f.t), f.topic, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	if have := pipelinetest.Joined(pipelinetest.ReadUntil(f.t, f.client, f.topic, 0, 0, end)); have != want {
		f.t.Errorf("log holds %s, want %s", have, want)
	}
}

func each(t *testing.T, test func(t *testing.T, withID bool)) {
	for name, withID := range map[string]bool{"fenced": true, "numbered": false} {
		t.Run(name, func(t *testing.T) { test(t, withID) })
	}
}

// TestLostAcknowledgementIsNotADuplicate has the broker write the records and report a timeout.
func TestLostAcknowledgementIsNotADuplicate(t *testing.T) {
	each(t, func(t *testing.T, withID bool) {
		f := newFaulty(t)
		w := f.open(withID)
		ctx := pipelinetest.Context(t)
		first := pipelinetest.Produce(t, f.client, f.topic, 0, pipelinetest.Values("a")...) + 1
		for i, values := range [][]pipeline.Record{
			pipelinetest.Values("b", "c"),
			pipelinetest.Values("d"),
			pipelinetest.Values("e", "f"),
		} {
			f.fail(kmsg.Produce, kerr.RequestTimedOut, 2)
			for range 2 {
				if _, err := w.Produce(ctx, f.topic, 0, values); err == nil || pipeline.IsPermanent(err) {
					t.Fatalf("permanent %v: %v", pipeline.IsPermanent(err), err)
				}
			}
			offset, err := w.Produce(ctx, f.topic, 0, values)
			if want := first + []int64{0, 2, 3}[i]; err != nil || offset != want {
				t.Errorf("retry was written at offset %d, want %d: %v", offset, want, err)
			}
		}
		f.holds("abcdef")
	})
}

// TestOtherRecordsAfterAFailedWrite writes other records while the previous ones are
// unacknowledged. The broker must not take them for a repetition.
func TestOtherRecordsAfterAFailedWrite(t *testing.T) {
	each(t, func(t *testing.T, withID bool) {
		f := newFaulty(t)
		w := f.open(withID)
		ctx := pipelinetest.Context(t)
		f.fail(kmsg.Produce, kerr.RequestTimedOut, 1)
		if _, err := w.Produce(ctx, f.topic, 0, pipelinetest.Values("a")); err == nil {
			t.Fatal("no error")
		}
		for _, text := range []string{"b", "c"} {
			if _, err := w.Produce(ctx, f.topic, 0, pipelinetest.Values(text)); err != nil {
				t.Fatal(err)
			}
		}
		f.holds("abc")
	})
}

// TestWriterRecoversFromAForgetfulBroker has brokers forget writers. A writer that cannot have a
// successor continues; an owner ends if the log has lost records.
func TestWriterRecoversFromAForgetfulBroker(t *testing.T) {
	for _, c := range []struct {
		name   string
		withID bool
		code   *kerr.Error
		fenced bool
	}{
		{"who it was", true, kerr.UnknownProducerID, false},
		{"who it was, numbered", false, kerr.UnknownProducerID, false},
		{"what was written", true, kerr.OutOfOrderSequenceNumber, true},
		{"what was written, numbered", false, kerr.OutOfOrderSequenceNumber, false},
		{"the epoch, numbered", false, kerr.InvalidProducerEpoch, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFaulty(t)
			w := f.open(c.withID)
			ctx := pipelinetest.Context(t)
			for i, text := range []string{"a", "b"} {
				if i > 0 {
					f.fail(kmsg.Produce, c.code, 1)
				}
				_, err := w.Produce(ctx, f.topic, 0, pipelinetest.Values(text))
				if fenced := errors.Is(err, pipeline.ErrFenced); fenced != (c.fenced && i > 0) || !fenced && err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			if c.fenced {
				f.holds("a")
			} else {
				f.holds("ab")
			}
		})
	}
}

// TestWriterDetectsLostRecords has an owner stop before it writes after lost records: the broker
// has forgotten the writer and would accept any number.
func TestWriterDetectsLostRecords(t *testing.T) {
	const topic = "t"
	ctx := pipelinetest.Context(t)
	had, saved := t.TempDir(), t.TempDir()
	var port int
	start := func(dir string) *kfake.Cluster {
		t.Helper()
		var cluster *kfake.Cluster
		pipelinetest.Eventually(t, "the broker starts", func() (ok bool) { // at its old port
			var err error
			cluster, err = kfake.NewCluster(
				kfake.NumBrokers(1),
				kfake.Ports(port),
				kfake.DataDir(dir),
				kfake.SeedTopics(1, topic),
			)
			return err == nil
		})
		return cluster
	}
	cluster := start(had)
	_, text, _ := net.SplitHostPort(cluster.ListenAddrs()[0])
	port, _ = strconv.Atoi(text)
	client := dial(t, config(cluster.ListenAddrs()))
	pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("somebody else's")...)
	cluster.Close()
	if err := os.CopyFS(saved, os.DirFS(had)); err != nil {
		t.Fatal(err)
	}

	cluster = start(had)
	var w pipeline.Producer
	pipelinetest.Eventually(t, "the writer is open", func() (ok bool) {
		var err error
		w, err = client.OpenWriter(ctx, &pipeline.WriterID{Group: "group", Topic: topic}, pipeline.Target{Topic: topic})
		return err == nil
	})
	if _, err := w.Produce(ctx, topic, 0, pipelinetest.Values("a")); err != nil {
		t.Fatal(err)
	}
	cluster.Close()

	cluster = start(saved)
	defer cluster.Close()
	b := pipelinetest.Values("b")
	var err error
	pipelinetest.Eventually(t, "the write is refused", func() bool {
		_, err = w.Produce(ctx, topic, 0, b)
		return err == nil || errors.Is(err, pipeline.ErrFenced)
	})
	if !errors.Is(err, pipeline.ErrFenced) {
		t.Errorf("write after lost records: %v", err)
	}
	if _, end, err := client.Offsets(ctx, topic, 0); err != nil || end != 1 {
		t.Errorf("log ends at %d, %v", end, err)
	}
}

// TestWriterWithoutRightsToNumberWrites falls back as far as needed, and logs each loss once.
func TestWriterWithoutRightsToNumberWrites(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoil  func(f *faulty)
		want   [2]pipeline.Protection // withID, numbered
		warned int
	}{
		{"nothing", func(*faulty) {}, [...]pipeline.Protection{pipeline.ProtectionFenced, pipeline.ProtectionNumbered}, 0},
		{"transactional ids", func(f *faulty) {
			f.Fault(kfake.Fault{
				Keys:  []kmsg.Key{kmsg.InitProducerID},
				TxnID: "group/" + f.topic + "/0",
				Err:   kerr.TransactionalIDAuthorizationFailed,
				Count: -1,
			})
		}, [...]pipeline.Protection{pipeline.ProtectionNumbered, pipeline.ProtectionNumbered}, 1},
		{"everything", func(f *faulty) { f.fail(kmsg.InitProducerID, kerr.ClusterAuthorizationFailed, -1) },
			[...]pipeline.Protection{pipeline.ProtectionNone, pipeline.ProtectionNone}, 2},
		{"nothing after a while", func(f *faulty) {
			f.fail(kmsg.InitProducerID, kerr.ConcurrentTransactions, 3)
			f.fail(kmsg.AddPartitionsToTxn, kerr.ConcurrentTransactions, 2)
			f.fail(kmsg.EndTxn, kerr.CoordinatorLoadInProgress, 2)
		}, [...]pipeline.Protection{pipeline.ProtectionFenced, pipeline.ProtectionNumbered}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFaulty(t)
			c.spoil(f)
			for range 2 {
				for i, withID := range []bool{true, false} {
					w := f.open(withID)
					if have := pipeline.ProtectionOf(w); have != c.want[i] {
						t.Errorf("withID %v: %s, want %s", withID, have, c.want[i])
					}
					if _, err := w.Produce(pipelinetest.Context(t), f.topic, 0, pipelinetest.Values("a")); err != nil {
						t.Error(err)
					}
				}
			}
			if n := f.warned.Len(); n != c.warned {
				t.Errorf("got %d warnings, want %d: %v", n, c.warned, f.warned.All())
			}
		})
	}
}

func TestIdempotenceOff(t *testing.T) {
	f := newFaulty(t)
	c := config(f.ListenAddrs())
	c.Idempotence = kafka.IdempotenceOff
	if w := openWriter(t, dial(t, c), f.topic, true); pipeline.ProtectionOf(w) != pipeline.ProtectionNone {
		t.Errorf("protection is %s", pipeline.ProtectionOf(w))
	}
	if f.warned.Len() > 0 {
		t.Error(f.warned.All())
	}
}

// TestIdentitiesAreRenewed takes new identities before coordinators forget the old ones and before
// numbers run out, but not while a write is unacknowledged.
func TestIdentitiesAreRenewed(t *testing.T) {
	on := connect(t)
	client := dial(t, on.config())
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	w := openWriter(t, client, topic, true)
	write := func(what string, renewed bool) {
		t.Helper()
		before := kafka.Epoch(w)
		for range 2 {
			if _, err := w.Produce(pipelinetest.Context(t), topic, 0, pipelinetest.Values("a", "b")); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if have := kafka.Epoch(w) != before; have != renewed {
			t.Errorf("%s: epoch %d, then %d", what, before, kafka.Epoch(w))
		}
	}
	write("at first", false)
	kafka.UseUp(w, 1)
	write("without numbers", true)
	kafka.Age(w, kafka.RenewAfter)
	write("too old", true)

	openWriter(t, client, topic, true)
	kafka.Age(w, kafka.RenewAfter)
	if on.real == nil {
		return // the embedded broker renews identities that have a successor
	}
	if _, err := w.Produce(pipelinetest.Context(t), topic, 0, pipelinetest.Values("late")); !errors.Is(
		err,
		pipeline.ErrFenced,
	) {
		t.Errorf("renewed the identity despite a successor: %v", err)
	}
}
