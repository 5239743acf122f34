package kafka

import (
	"slices"
	"sync"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Groups implements [pipeline.Broker].
func (c *Client) Groups() []pipeline.GroupStatus {
	c.mu.Lock()
	members := slices.Clone(c.members)
	c.mu.Unlock()
	statuses := make([]pipeline.GroupStatus, len(members))
	for i, m := range members {
		statuses[i] = m.standing.get()
	}
	return statuses
}

func (c *Client) addMember(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = append(c.members, m)
}

func (c *Client) dropMember(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = slices.DeleteFunc(c.members, func(other *member) bool { return other == m })
}

// standing is the state of a member in its group, readable at any time.
type standing struct {
	mu     sync.Mutex
	status pipeline.GroupStatus
}

func newStanding(group, topic string) *standing {
	return &standing{status: pipeline.GroupStatus{Group: group, Topic: topic, Since: time.Now()}}
}

func (s *standing) get() pipeline.GroupStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// joined records a new generation.
func (s *standing) joined(partitions []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Joined, s.status.Since, s.status.Err = true, time.Now(), nil
	s.status.Partitions, s.status.Joins = partitions, s.status.Joins+1
}

// ended records the end of the generation.
func (s *standing) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Joined, s.status.Since, s.status.Partitions = false, time.Now(), nil
}

// failed records the error of a failed join.
func (s *standing) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Err = err
}
