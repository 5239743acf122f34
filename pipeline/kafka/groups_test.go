package kafka_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// A member that joined and never answers again holds every join up until its session ends.
func TestLeavingDoesNotWaitForAJoin(t *testing.T) {
	on := newEmbedded(t)
	c := on.config()
	c.LeaveTimeout = 100 * time.Millisecond
	client := dial(t, c)
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	joinAndStall(t, on, topic)
	o := pipelinetest.Own(t, client, topic, topic)
	o.End(t)
}

// joinAndStall joins a group as its first member, gets an response, and does no more.
func joinAndStall(t *testing.T, on *cluster, group string) {
	t.Helper()
	request := kmsg.NewPtrJoinGroupRequest()
	request.Group, request.ProtocolType = group, "consumer"
	const long = int32(2 * pipelinetest.Patience / time.Millisecond)
	request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = long, long
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name = "range"
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics = []string{group}
	protocol.Metadata = meta.AppendTo(nil)
	request.Protocols = append(request.Protocols, protocol)
	client := otherClient(t, on)
	response, err := request.RequestWith(pipelinetest.Context(t), client)
	if err == nil && response.ErrorCode == kerr.MemberIDRequired.Code {
		request.MemberID = response.MemberID
		response, err = request.RequestWith(pipelinetest.Context(t), client)
	}
	if err == nil {
		err = kerr.ErrorForCode(response.ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
