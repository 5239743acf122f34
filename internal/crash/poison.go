package crash

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// What the kinds of this file add.
const (
	KindPoison      Kind = "poison"      // five bytes under keys of the pipeline
	KindTransaction Kind = "transaction" // a foreign transaction that stays open for a while

	ActPoison      Act = "poison"      // Slot names the key
	ActTransaction Act = "transaction" // on a topic of the pipeline named by Slot; aborted in the end
)

// poison is written in place of a record of the pipeline.
var poison = []byte("hello")

// The keys that are poisoned.
var poisonKeys = []string{"spec", "progress", "request", "set", "set pointer", "model", "model pointer", "checkpoint", "samples"}

// drawPoison poisons keys, mostly while explorations run.
func drawPoison(d drawer, p *Plan) {
	for at := d.between(d.session/4, d.session); at < p.Produce+d.session; at += d.between(d.session/8, d.session/2) {
		p.Actions = append(p.Actions, Action{At: at, Act: ActPoison, Slot: poisonKeys[d.IntN(len(poisonKeys))]})
	}
}

// The topics on which transactions are opened. The writers of events and features know their offsets.
var transactionTopics = []string{"explorations", "feature-sets", "models", "scores", "samples"}

// drawTransactions opens one or two.
func drawTransactions(d drawer, p *Plan) {
	for range 1 + d.IntN(2) {
		p.Actions = append(p.Actions, Action{
			At: d.between(d.session/4, p.Produce), Act: ActTransaction, Slot: transactionTopics[d.IntN(len(transactionTopics))],
			For: d.between(d.session/2, 2*d.session),
		})
	}
}

// actPoison overwrites the record of a key of the pipeline.
func actPoison(ctx context.Context, r *run, a Action) error {
	r.gate.RLock()
	defer r.gate.RUnlock()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	topics := r.loaded.Stages.Topics
	var err error
	switch a.Slot {
	case "spec":
		err = r.poison(ctx, topics.Explorations, 0, wire.SpecKey(r.Name))
	case "progress":
		err = r.poison(ctx, topics.Explorations, 0, wire.ProgressKey(r.Name))
	case "request":
		err = r.poison(ctx, topics.Explorations, 0, wire.RequestKey(r.Name, "poison"))
	case "set pointer":
		err = r.poison(ctx, topics.FeatureSets, 0, wire.CurrentKey(r.Name))
	case "model pointer":
		err = r.poison(ctx, topics.Models, 0, wire.CurrentKey(r.Name))
	case "set":
		var sets map[string]*wire.FeatureSet
		if sets, err = r.featureSets(ctx, r.client); err == nil {
			r.lost = merged(r.lost, sets) // compaction may remove a set before it is written again; then its key is deleted
			err = r.poisonNewest(ctx, topics.FeatureSets, 0)
		}
	case "model":
		err = r.poisonNewest(ctx, topics.Models, 0)
	case "checkpoint", "samples":
		topic := map[string]string{"checkpoint": topics.Scores, "samples": topics.Samples}[a.Slot]
		for partition := range partitions {
			if err = r.poisonNewest(ctx, topic, partition); err != nil {
				break
			}
		}
	}
	r.note("poison under the key of the %s (%v)", a.Slot, err) // no poison while the broker is down
	return nil
}

// poisonNewest overwrites the newest record of a partition that is not a pointer, if there is one.
func (r *run) poisonNewest(ctx context.Context, topic string, partition int) error {
	var key []byte
	err := r.read(ctx, topic, partition, func(rec pipeline.Record) error {
		if rec.Value != nil && !bytes.Equal(rec.Key, wire.CurrentKey(r.Name)) {
			key = bytes.Clone(rec.Key)
		}
		return nil
	})
	if err != nil || key == nil {
		return err
	}
	return r.poison(ctx, topic, partition, key)
}

func (r *run) poison(ctx context.Context, topic string, partition int, key []byte) error {
	_, err := r.client.Produce(ctx, topic, partition, []pipeline.Record{{Key: key, Value: poison}})
	return err
}

// actTransaction opens a transaction on every partition of a topic and aborts it after a while.
func actTransaction(ctx context.Context, r *run, a Action) error {
	topic := r.topic(a.Slot)
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Addrs()...), kgo.TransactionalID(fmt.Sprintf("%s-%v", r.Name, a.At)),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionTimeout(time.Minute))
	if err != nil {
		return err
	}
	defer client.Close()
	err = r.openTransaction(ctx, client, topic)
	r.note("a transaction is open on %s (%v)", a.Slot, err)
	sleep(ctx, a.For)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute) // longer than the broker keeps it
	defer cancel()
	r.note("the transaction on %s is aborted (%v)", a.Slot, client.EndTransaction(ending, kgo.TryAbort))
	return nil
}

func (r *run) openTransaction(ctx context.Context, client *kgo.Client, topic string) error {
	r.gate.RLock()
	defer r.gate.RUnlock()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := client.BeginTransaction(); err != nil {
		return err
	}
	n, err := r.client.Partitions(ctx, topic)
	for partition := 0; partition < n && err == nil; partition++ {
		err = client.ProduceSync(ctx, &kgo.Record{Topic: topic, Partition: int32(partition), Value: poison}).FirstErr()
	}
	return err
}
