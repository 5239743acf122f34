package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"github.com/eerf-stream/eerf/pipeline"
)

// Limits of the requests to one leader. The limits of each kind bound the connections to it.
const (
	// singleRequests limits requests for a single partition that had data in its last fetch.
	singleRequests = 24
	// groupRequests limits requests for several idle partitions. Such a request ends when any of
	// them has data.
	groupRequests = 16
	// leastGroup is the smallest capacity of a group request. With many partitions the capacity is
	// twice the average: small requests are answered sooner and are cheaper to repeat.
	leastGroup = 16
	// shortRequests limits requests that wait only for shortWait. They serve fetches that arrive
	// while all others are under way, so that a partition that was just processed is fetched at
	// once, however many partitions wait.
	shortRequests = 2
	shortWait     = 5 * time.Millisecond
	// gatherIdle is how long a fetch of an idle partition waits for others to share its request.
	gatherIdle = time.Millisecond
	// partitionsAtOnce and bytesAtOnce limit a request. Partitions that were just idle add no
	// bytes.
	partitionsAtOnce = 500
	bytesAtOnce      = 16 << 20
)

// kind is a kind of request.
type kind uint8

const (
	singleRequest kind = iota
	groupRequest
	shortRequest
	kinds
)

var mostRequests = [kinds]int{singleRequests, groupRequests, shortRequests}

// leaders send the fetches of many partitions in few requests.
type leaders struct {
	client *Client

	mu sync.Mutex // guards of and everything in it
	of map[int32]*leader
}

// leader is a broker and the fetches of its partitions.
type leader struct {
	id        int32
	fresh     []*pendingFetch // not requested yet
	idle      []*pendingFetch // requested without finding data
	cold      []*pendingFetch // of idle partitions, gathering
	gathering bool
	underWay  [kinds]int
}

func newLeaders(client *Client) *leaders { return &leaders{client: client, of: map[int32]*leader{}} }

// fetch sends a fetch to the leader of its partition and waits for the response. It returns the
// memory of the fetch, which is no longer the caller's if the context ends.
func (l *leaders) fetch(ctx context.Context, p *pendingFetch) (funds *grant, err error) {
	id, err := l.leaderOf(ctx, p.partitionKey)
	if err != nil {
		return p.funds, err
	}
	if p.log, err = l.client.Identity(ctx, p.topic, pipeline.AnyPartition, time.Time{}); err != nil {
		return p.funds, err
	}
	l.add(id, p)
	select {
	case <-p.done:
		return p.funds, p.err
	case <-ctx.Done():
		p.abandon()
		return nil, ctx.Err()
	}
}

// leaderOf returns the leader according to the transport's view of the cluster.
func (l *leaders) leaderOf(ctx context.Context, key partitionKey) (int32, error) {
	m, err := l.client.transport.RoundTrip(ctx, l.client.requests.Addr, &metadata.Request{TopicNames: []string{key.topic}})
	if err != nil {
		return 0, err
	}
	topics := m.(*metadata.Response).Topics
	if len(topics) != 1 || topics[0].ErrorCode == int16(kafkago.UnknownTopicOrPartition) {
		return 0, fmt.Errorf("fetch: %w", protocol.NewErrNoTopic(key.topic))
	}
	partitions := topics[0].Partitions
	byIndex := func(p metadata.ResponsePartition, want int32) int { return int(p.PartitionIndex) - int(want) }
	at, ok := slices.BinarySearchFunc(partitions, int32(key.partition), byIndex)
	switch {
	case !ok:
		return 0, fmt.Errorf("fetch: %w", protocol.NewErrNoPartition(key.topic, int32(key.partition)))
	case partitions[at].LeaderID < 0:
		return 0, fmt.Errorf("fetch: %w", protocol.NewErrNoLeader(key.topic, int32(key.partition)))
	}
	return partitions[at].LeaderID, nil
}

func (l *leaders) add(id int32, p *pendingFetch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	to := l.of[id]
	if to == nil {
		to = &leader{id: id}
		l.of[id] = to
	}
	if !p.cold {
		to.fresh = append(to.fresh, p)
		l.dispatch(to)
		return
	}
	to.cold = append(to.cold, p)
	if to.gathering {
		return
	}
	to.gathering = true
	time.AfterFunc(gatherIdle, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		to.idle = append(to.idle, to.cold...)
		to.cold = nil
		to.gathering = false
		l.dispatch(to)
	})
}

// dispatch sends requests for queued fetches. mu is locked.
func (l *leaders) dispatch(to *leader) {
	for {
		of, fetches := to.next(max(leastGroup, 2*l.client.stats.count()/groupRequests))
		if len(fetches) == 0 {
			return
		}
		to.underWay[of]++
		go l.send(to, of, fetches)
	}
}

// free reports whether the limit permits another request of a kind.
func (to *leader) free(of kind) bool { return to.underWay[of] < mostRequests[of] }

// next takes the fetches of one request, at most group for a group request.
func (to *leader) next(group int) (of kind, fetches []*pendingFetch) {
	take := &request{taken: map[partitionKey]struct{}{}, most: min(group, partitionsAtOnce)}
	if to.free(groupRequest) {
		to.idle = take.from(to.idle)
		if len(take.fetches) > 0 {
			return groupRequest, take.fetches
		}
	}
	take.most = partitionsAtOnce
	if to.free(singleRequest) {
		to.fresh = take.from(to.fresh)
		if len(take.fetches) == 0 {
			to.idle = take.from(to.idle)
		}
		if len(take.fetches) > 0 {
			return singleRequest, take.fetches
		}
	}
	if to.free(shortRequest) {
		to.fresh = take.from(to.fresh)
		to.idle = take.from(to.idle)
	}
	return shortRequest, take.fetches
}

// request is a selection of fetches for one request.
type request struct {
	fetches []*pendingFetch
	taken   map[partitionKey]struct{}
	most    int
	bytes   int
}

// from takes fetches from a queue and returns the rest, without abandoned ones.
func (q *request) from(queue []*pendingFetch) (left []*pendingFetch) {
	for i, p := range queue {
		if len(q.fetches) >= q.most || q.bytes >= bytesAtOnce || len(q.fetches) > 0 && q.fetches[0].alone {
			return append(left, queue[i:]...)
		}
		latest, waits := p.waits()
		if !waits {
			continue
		}
		if _, twice := q.taken[p.partitionKey]; twice || p.alone && len(q.fetches) > 0 {
			left = append(left, p)
			continue
		}
		q.taken[p.partitionKey] = struct{}{}
		q.fetches = append(q.fetches, p)
		if latest == nil && !p.cold || p.alone {
			q.bytes += p.maxBytes
		}
	}
	return left
}

// send sends one request and requeues the partitions without data.
func (l *leaders) send(to *leader, of kind, fetches []*pendingFetch) {
	wait := l.client.config.FetchMaxWait
	if of == shortRequest {
		wait = min(wait, shortWait)
	}
	waiting := l.exchange(to, fetches, wait)
	l.mu.Lock()
	defer l.mu.Unlock()
	to.underWay[of]--
	to.idle = append(to.idle, waiting...)
	l.dispatch(to)
}

// exchange sends one request and returns the fetches that continue to wait; all others are
// answered.
func (l *leaders) exchange(to *leader, fetches []*pendingFetch, wait time.Duration) (waiting []*pendingFetch) {
	c := l.client
	now := time.Now()
	last := now
	for _, p := range fetches {
		if p.deadline.After(last) {
			last = p.deadline
		}
	}
	wait = min(wait, max(last.Sub(now), time.Millisecond))
	limit := c.config.RequestTimeout + wait
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	message, err := c.transport.RoundTrip(ctx, c.requests.Addr, newFetchExchange(c, to.id, fetches, wait))
	switch {
	case err == nil:
		if code := message.(*fetchDone).code; code != 0 {
			err = kafkago.Error(code)
		}
	case c.ctx.Err() != nil:
		err = errClosed
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("no response within %v: %s", limit, err.Error())
	}
	now = time.Now()
	for _, p := range fetches {
		latest, ok := p.waits()
		switch {
		case !ok: // answered or abandoned
		case err != nil:
			p.fail(err)
		case latest == nil:
			p.fail(errors.New("response without the partition"))
		case latest.end > p.offset && !p.alone && len(fetches) > 1:
			p.alone = true // brokers return a batch larger than requested only as the first of a response
			waiting = append(waiting, p)
		case latest.end > p.offset || !now.Before(p.deadline):
			p.finish(latest, nil)
		default:
			waiting = append(waiting, p)
		}
	}
	return waiting
}
