package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

// A failed join is retried after a delay drawn from [rejoinDelay, 3*rejoinDelay). The delay does
// not grow, so that a group is not kept waiting longer the longer its coordinator was unavailable.
// Warnings are at least warnEvery apart.
const (
	rejoinDelay = 300 * time.Millisecond
	warnEvery   = 15 * time.Second
)

// generation is the assignment of a group until members come or go.
type generation struct {
	membership
	group           string
	number          int32
	partitions      []int // of this member
	topicPartitions int   // of the topic when they were assigned
}

// balancer assigns the partitions. All members of a group have to use the same one.
var balancer kafkago.RangeGroupBalancer

// protocolType is the type of consumer groups.
const protocolType = "consumer"

// join returns the next generation. Its error is permanent or the end of the context.
func (m *member) join() (*generation, error) {
	failures := 0
	var warned time.Time
	for {
		g, err := m.joinOnce()
		switch {
		case err == nil:
			return g, nil
		case m.ctx.Err() != nil:
			return nil, m.ctx.Err()
		case m.reconsider(err):
			continue
		}
		failures++
		m.standing.failed(err)
		if pipeline.IsPermanent(err) {
			return nil, err
		}
		if time.Since(warned) >= warnEvery {
			warned = time.Now()
			m.log.Warn("joining the group failed; retrying", zap.Error(err), zap.Int("failures", failures))
		}
		select {
		case <-time.After(rejoinDelay + rand.N(2*rejoinDelay)):
		case <-m.ctx.Done():
		}
	}
}

// reconsider adapts the member's name and id to an error of the coordinator, and reports whether to
// rejoin at once.
func (m *member) reconsider(err error) bool {
	switch {
	case isAny(err, kafkago.FencedInstanceID):
		m.log.Error("another process joined the group under the same name; continuing without a name, "+
			"so after a crash the partitions wait for session_timeout", zap.String("instance", m.known.instance))
		m.known = membership{}
		m.release()
		m.release = func() {}
	case isAny(err, kafkago.UnknownMemberId):
		m.known.id = ""
	case isAny(err, kafkago.MemberIDRequired, kafkago.RebalanceInProgress, kafkago.IllegalGeneration):
	default:
		return false
	}
	return true
}

func (m *member) place(doing string) place {
	return place{doing + " group " + m.group + " for", m.topic, -1}
}

// joinOnce tries to become a member of the next generation: it joins, assigns the partitions if it
// is the leader, and receives its own.
func (m *member) joinOnce() (*generation, error) {
	partitions, err := m.client.Partitions(m.ctx, m.topic)
	if err != nil {
		return nil, err
	}
	joined, err := m.sendJoin(partitions)
	if err != nil {
		return nil, err
	}
	m.known.id = joined.MemberID
	g := &generation{membership: m.known, group: m.group, number: joined.Generation, topicPartitions: partitions}
	var plan []kmsg.SyncGroupRequestGroupAssignment
	if joined.LeaderID == joined.MemberID {
		plan, err = m.assign(joined.Members)
		if err != nil {
			return nil, err
		}
	}
	return g, m.sync(g, plan)
}

// sendJoin returns once all members have joined, or the coordinator has removed the missing ones.
func (m *member) sendJoin(partitions int) (*kmsg.JoinGroupResponse, error) {
	config := &m.client.config
	request := kmsg.NewPtrJoinGroupRequest()
	request.Version = joinVersion
	request.Group = m.group
	request.MemberID = m.known.id
	request.InstanceID = m.known.name()
	request.SessionTimeoutMillis = int32(config.SessionTimeout.Milliseconds())
	request.RebalanceTimeoutMillis = int32(config.RebalanceTimeout.Milliseconds())
	// The coordinator rebalances if the metadata of a static member changes, here its number of
	// partitions.
	wanted := kmsg.ConsumerMemberMetadata{Topics: []string{m.topic}, UserData: counted(partitions)}
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name, protocol.Metadata = balancer.ProtocolName(), wanted.AppendTo(nil)
	request.ProtocolType, request.Protocols = protocolType, append(request.Protocols, protocol)
	m.joining = true
	limit := config.RebalanceTimeout + config.SessionTimeout + config.RequestTimeout
	response, err := askCoordinator[*kmsg.JoinGroupResponse](m.ctx, m.client, m.place("join"), m.group, request, limit)
	if err != nil {
		return nil, err
	}
	m.joining = false
	if err := coded(response.ErrorCode); err != nil {
		if isAny(err, kafkago.MemberIDRequired) {
			m.known.id = response.MemberID
		}
		return nil, m.client.explain(m.ctx, m.place("join"), err)
	}
	return response, nil
}

// assign returns the leader's assignment of partitions to members.
func (m *member) assign(members []kmsg.JoinGroupResponseMember) ([]kmsg.SyncGroupRequestGroupAssignment, error) {
	var group []kafkago.GroupMember
	counts := map[string]int{}
	for _, member := range members {
		wanted, err := readMetadata(member.ProtocolMetadata)
		if err != nil {
			return nil, fmt.Errorf("%v: member %s: %w", m.place("join"), member.MemberID, err)
		}
		group = append(group, kafkago.GroupMember{ID: member.MemberID, Topics: wanted.Topics})
		for _, topic := range wanted.Topics {
			counts[topic] = 0
		}
	}
	var partitions []kafkago.Partition
	for topic := range counts {
		n, err := m.client.Partitions(m.ctx, topic)
		if err != nil && !errors.Is(err, pipeline.ErrUnknownTopic) {
			return nil, err
		}
		for id := range n {
			partitions = append(partitions, kafkago.Partition{Topic: topic, ID: id})
		}
		counts[topic] = n
	}
	var plan []kmsg.SyncGroupRequestGroupAssignment
	for id, topics := range balancer.AssignGroups(group, partitions) {
		var given kmsg.ConsumerMemberAssignment
		for topic, partitions := range topics {
			part := kmsg.ConsumerMemberAssignmentTopic{Topic: topic}
			for _, partition := range partitions {
				part.Partitions = append(part.Partitions, int32(partition))
			}
			given.Topics, given.UserData = append(given.Topics, part), counted(counts[topic])
		}
		plan = append(plan, kmsg.SyncGroupRequestGroupAssignment{MemberID: id, MemberAssignment: given.AppendTo(nil)})
	}
	return plan, nil
}

// sync sends the assignment, if this member made it, and receives the member's partitions.
func (m *member) sync(g *generation, plan []kmsg.SyncGroupRequestGroupAssignment) error {
	request := kmsg.NewPtrSyncGroupRequest()
	request.Version = syncVersion
	request.Group = g.group
	request.Generation = g.number
	request.MemberID = g.id
	request.InstanceID = g.name()
	request.ProtocolType, request.Protocol = kmsg.StringPtr(protocolType), kmsg.StringPtr(balancer.ProtocolName())
	request.GroupAssignment = plan
	config := &m.client.config
	limit := config.SessionTimeout + config.RequestTimeout // the coordinator waits a session for a leader that died
	response, err := askCoordinator[*kmsg.SyncGroupResponse](m.ctx, m.client, m.place("join"), m.group, request, limit)
	if err != nil {
		return err
	}
	if err := coded(response.ErrorCode); err != nil {
		return m.client.explain(m.ctx, m.place("join"), err)
	}
	var given kmsg.ConsumerMemberAssignment
	if len(response.MemberAssignment) > 0 {
		if err := given.ReadFrom(response.MemberAssignment); err != nil {
			return fmt.Errorf("%v: read the assignment: %w", m.place("join"), err)
		}
	}
	for _, topic := range given.Topics {
		if topic.Topic != m.topic {
			continue
		}
		for _, partition := range topic.Partitions {
			g.partitions = append(g.partitions, int(partition))
		}
	}
	if len(given.UserData) == 4 {
		g.topicPartitions = int(binary.BigEndian.Uint32(given.UserData))
	}
	return nil
}

// counted encodes a number of partitions for other members. A member that receives the assignment
// of its predecessor sees whether partitions have been added since.
func counted(partitions int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(partitions)) }

// readMetadata reads the metadata of a member. Later versions only add fields, which some clients
// omit.
func readMetadata(metadata []byte) (wanted kmsg.ConsumerMemberMetadata, err error) {
	if len(metadata) < 2 {
		return wanted, errors.New("no metadata")
	}
	err = wanted.ReadFrom(append([]byte{0, 0}, metadata[2:]...))
	return wanted, err
}

// heartbeat tells the coordinator that the member is alive.
func (c *Client) heartbeat(ctx context.Context, g *generation, limit time.Duration) error {
	request := kmsg.NewPtrHeartbeatRequest()
	request.Version = heartbeatVersion
	request.Group = g.group
	request.Generation = g.number
	request.MemberID = g.id
	request.InstanceID = g.name()
	at := place{"heartbeat to group " + g.group, "", -1}
	response, err := askCoordinator[*kmsg.HeartbeatResponse](ctx, c, at, g.group, request, limit)
	if err != nil {
		return err
	}
	return c.explain(ctx, at, coded(response.ErrorCode))
}

// leave leaves the group, so that others get the partitions at once. It also ends a join under way.
func (m *member) leave() {
	if m.known.id == "" && (m.known.instance == "" || !m.joining) {
		return
	}
	request := kmsg.NewPtrLeaveGroupRequest()
	member := kmsg.NewLeaveGroupRequestMember()
	member.MemberID, member.InstanceID = m.known.id, m.known.name()
	request.Version = leaveVersion
	request.Group = m.group
	request.Members = append(request.Members, member)
	limit := m.client.config.LeaveTimeout
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), limit)
	defer cancel()
	_, err := askCoordinator[*kmsg.LeaveGroupResponse](ctx, m.client, m.place("leave"), m.group, request, limit)
	if err != nil {
		m.log.Warn("leaving the group failed; others take over after session_timeout", zap.Error(err))
	}
}
