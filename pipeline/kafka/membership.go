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

// A failed join is retried after a delay drawn from [rejoinDelay, 3*rejoinDelay). It does not grow: a group that waits
// for its members should not wait longer the longer its coordinator was away. Complaints are at least complainEvery
// apart.
const (
	rejoinDelay   = 300 * time.Millisecond
	complainEvery = 15 * time.Second
)

// generation is what a group has agreed on until members come or go.
type generation struct {
	membership
	group           string
	number          int32
	partitions      []int // of this member
	topicPartitions int   // how many were handed out
}

// balancer hands out the partitions. All members of a group have to use the same one.
var balancer kafkago.RangeGroupBalancer

// protocolType is that of consumers.
const protocolType = "consumer"

// join returns the next generation. Its error is permanent or the end of the context.
func (m *member) join() (*generation, error) {
	failures := 0
	var complained time.Time
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
		if time.Since(complained) >= complainEvery {
			complained = time.Now()
			m.log.Warn("group not joined, trying again", zap.Error(err), zap.Int("failures", failures))
		}
		select {
		case <-time.After(rejoinDelay + rand.N(2*rejoinDelay)):
		case <-m.ctx.Done():
		}
	}
}

// reconsider changes what the member calls itself after what a coordinator said, and reports whether to join again at once.
func (m *member) reconsider(err error) bool {
	switch {
	case isAny(err, kafkago.FencedInstanceID):
		m.log.Error("another process has joined the group under the same name and taken the partitions over; going on without a name, "+
			"so after a crash they wait for session_timeout", zap.String("instance", m.known.instance))
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

// joinOnce tries to become part of the next generation: it joins, hands out the partitions if it is the one to do so, and learns
// which are its own.
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
		if plan, err = m.handOut(joined.Members); err != nil {
			return nil, err
		}
	}
	return g, m.sync(g, plan)
}

// sendJoin returns when all members are there, or those that were there until now have been given up.
func (m *member) sendJoin(partitions int) (*kmsg.JoinGroupResponse, error) {
	config := &m.client.config
	request := kmsg.NewPtrJoinGroupRequest()
	request.Version, request.Group, request.MemberID, request.InstanceID = joinVersion, m.group, m.known.id, m.known.name()
	request.SessionTimeoutMillis = int32(config.SessionTimeout.Milliseconds())
	request.RebalanceTimeoutMillis = int32(config.RebalanceTimeout.Milliseconds())
	wanted := kmsg.ConsumerMemberMetadata{Topics: []string{m.topic}, UserData: counted(partitions)} // another number is a reason to hand out again
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

// handOut is the leader's part: who gets which partitions.
func (m *member) handOut(members []kmsg.JoinGroupResponseMember) ([]kmsg.SyncGroupRequestGroupAssignment, error) {
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

// sync sends the plan, if this member made it, and learns which partitions are its own.
func (m *member) sync(g *generation, plan []kmsg.SyncGroupRequestGroupAssignment) error {
	request := kmsg.NewPtrSyncGroupRequest()
	request.Version, request.Group, request.Generation, request.MemberID, request.InstanceID = syncVersion, g.group, g.number, g.id, g.name()
	request.ProtocolType, request.Protocol = kmsg.StringPtr(protocolType), kmsg.StringPtr(balancer.ProtocolName())
	request.GroupAssignment = plan
	config := &m.client.config
	limit := config.SessionTimeout + config.RequestTimeout // a leader that died is given up after its session
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
			return fmt.Errorf("%v: what was assigned: %w", m.place("join"), err)
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

// counted is a number of partitions as members tell each other. A member that gets back what was assigned to its predecessor learns
// from it whether partitions have been added since.
func counted(partitions int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(partitions)) }

// readMetadata reads what a member wants. Later versions only add fields, which some clients leave out.
func readMetadata(metadata []byte) (wanted kmsg.ConsumerMemberMetadata, err error) {
	if len(metadata) < 2 {
		return wanted, errors.New("no metadata")
	}
	err = wanted.ReadFrom(append([]byte{0, 0}, metadata[2:]...))
	return wanted, err
}

// heartbeat tells the coordinator that the member lives.
func (c *Client) heartbeat(ctx context.Context, g *generation, limit time.Duration) error {
	request := kmsg.NewPtrHeartbeatRequest()
	request.Version, request.Group, request.Generation, request.MemberID, request.InstanceID = heartbeatVersion, g.group, g.number, g.id, g.name()
	at := place{"heartbeat to group " + g.group, "", -1}
	response, err := askCoordinator[*kmsg.HeartbeatResponse](ctx, c, at, g.group, request, limit)
	if err != nil {
		return err
	}
	return c.explain(ctx, at, coded(response.ErrorCode))
}

// leave leaves the group, so that others get the partitions at once. A join under way is answered by it too.
func (m *member) leave() {
	if m.known.id == "" && (m.known.instance == "" || !m.joining) {
		return
	}
	request := kmsg.NewPtrLeaveGroupRequest()
	member := kmsg.NewLeaveGroupRequestMember()
	member.MemberID, member.InstanceID = m.known.id, m.known.name()
	request.Version, request.Group, request.Members = leaveVersion, m.group, append(request.Members, member)
	limit := m.client.config.LeaveTimeout
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), limit)
	defer cancel()
	if _, err := askCoordinator[*kmsg.LeaveGroupResponse](ctx, m.client, m.place("leave"), m.group, request, limit); err != nil {
		m.log.Warn("group not left: others take over after session_timeout", zap.Error(err))
	}
}
