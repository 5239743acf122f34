package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"time"
)

// options are the flags.
type options struct {
	brokers, events, features string
	rows                      int
	seed                      uint64
	timeout                   time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.brokers, "brokers", "localhost:9092", "addresses of the brokers, comma separated")
	flag.StringVar(&o.events, "events", topicEvents, "wait: topic of the events")
	flag.StringVar(&o.features, "features", "orders.features", "wait, check-predictions: topic of their features")
	flag.IntVar(&o.rows, "rows", 20_000, "how many orders are made")
	flag.Uint64Var(&o.seed, "seed", 1, "of what is made")
	flag.DurationVar(&o.timeout, "timeout", 5*time.Minute, "give up after this long")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, commands []string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	of := map[string]func(context.Context, *shop, options) error{
		"make": makeTopics, "check-join": checkJoin, "wait": wait, "check-predictions": checkPredictions,
	}
	if len(commands) != 1 || of[commands[0]] == nil {
		return fmt.Errorf("expected one of %v", slices.Sorted(maps.Keys(of)))
	}
	s, err := connect(o.brokers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.client.Close()) }()
	return of[commands[0]](ctx, s, o)
}

// makeTopics writes orders and labels.
func makeTopics(ctx context.Context, s *shop, o options) error {
	orders, returned := makeOrders(o.rows, o.seed)
	labels := makeLabels(orders, returned, o.seed)
	outOfOrder(orders, func(o order) time.Time { return o.Time }, o.seed)
	outOfOrder(labels, func(l label) time.Time { return l.Time }, o.seed)
	if err := s.create(ctx); err != nil {
		return err
	}
	if err := write(ctx, s, topicEvents, orders, func(o order) string { return o.ID }); err != nil {
		return err
	}
	if err := write(ctx, s, topicLabels, labels, func(l label) string { return l.ID }); err != nil {
		return err
	}
	fmt.Printf("%d orders and %d labels are on their topics\n", len(orders), len(labels))
	return nil
}

// checkJoin compares the job's output with a join of its input.
func checkJoin(ctx context.Context, s *shop, _ options) error {
	orders, err := read[order](ctx, s, topicEvents)
	if err != nil {
		return err
	}
	labels, err := read[label](ctx, s, topicLabels)
	if err != nil {
		return err
	}
	written, err := read[labelled](ctx, s, topicLabelled)
	if err != nil {
		return err
	}
	want := join(orders, labels)
	d := compare(want, written)
	fmt.Printf("%d orders, %d labels; %d orders have one within %v\n", len(orders), len(labels), len(want), interval)
	if !d.none() {
		return fmt.Errorf(
			"the %d rows of the job differ from the join in memory: %d missing, %d unexpected, %d different, %d repeated; %s",
			len(written),
			d.missing,
			d.unexpected,
			d.different,
			d.repeated,
			d.example,
		)
	}
	if len(want) == 0 {
		return errors.New("no order has a label within the interval")
	}
	fmt.Printf("the job wrote exactly these %d rows\n", len(written))
	return nil
}

func wait(ctx context.Context, s *shop, o options) error { return s.waitFor(ctx, o.events, o.features) }

// checkPredictions compares the predictions of all orders with their outcomes, including orders
// without a label.
func checkPredictions(ctx context.Context, s *shop, o options) error {
	if err := s.waitFor(ctx, o.events, o.features); err != nil {
		return err
	}
	orders, returned := makeOrders(o.rows, o.seed)
	became := make(map[string]string, len(orders))
	for i, order := range orders {
		became[order.ID] = returned[i]
	}
	p, err := s.readPredictions(ctx, o.features, became)
	if err != nil {
		return err
	}
	if p.rows != o.rows || p.without > 0 || len(p.models) != 1 {
		return fmt.Errorf(
			"found %d rows of features for %d orders, %d without a prediction; by model %v",
			p.rows,
			o.rows,
			p.without,
			p.models,
		)
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(p.rows) }
	constant := p.rows - max(p.of["yes"], p.of["no"])
	fmt.Printf("predicted %d orders; %.1f %% of the predictions are wrong, compared with %.1f %% for a constant answer\n",
		p.rows, share(p.wrong), share(constant))
	if p.wrong >= constant {
		return errors.New("the predictions are no better than a constant answer")
	}
	return nil
}
