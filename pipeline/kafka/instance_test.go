package kafka_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// Members that died under a name, at whatever moment, do not keep their successor waiting for their
// sessions, which are longer here than the test is patient.
func TestSuccessorReplacesADeadMemberAtOnce(t *testing.T) {
	on := connect(t)
	for died, how := range map[string]struct {
		deaths int
		sync   bool
	}{"as a member": {1, true}, "before it knew its partitions": {1, false}, "twelve times": {12, false}} {
		t.Run(died, func(t *testing.T) {
			c := on.config()
			c.GroupInstance = "name"
			client := dial(t, c)
			topic := pipelinetest.NewTopic(t, client, 2, nil)
			for range how.deaths {
				joinAndStall(t, on, topic, c.GroupInstance, how.sync)
			}
			o := pipelinetest.Own(t, client, topic, topic)
			pipelinetest.Await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 2 })
		})
	}
}

// A successor gets what its predecessor had. Partitions that were added in between are handed out
// too.
func TestSuccessorSeesAddedPartitions(t *testing.T) {
	on := connect(t)
	c := on.config()
	c.GroupInstance = "name"
	client := dial(t, c)
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	joinAndStall(t, on, topic, c.GroupInstance, true)
	if err := client.GrowPartitions(pipelinetest.Context(t), topic, 3); err != nil {
		t.Fatal(err)
	}
	o := pipelinetest.Own(t, client, topic, topic)
	pipelinetest.Await(t, o, o, "all of them", func(a, _ []int) bool { return len(a) == 3 })
}

// Of two that claim one name the older is fenced and says so. Both go on, and own nothing together.
func TestTwoMembersUnderOneName(t *testing.T) {
	on := connect(t)
	c := on.config()
	c.GroupInstance = "name"
	core, logs := observer.New(zapcore.ErrorLevel)
	first, err := kafka.New(c, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { first.Close() })
	topic := pipelinetest.NewTopic(t, first, 4, nil)
	older := pipelinetest.Own(t, first, topic, topic)
	pipelinetest.Await(t, older, older, "assigned", func(a, _ []int) bool { return len(a) == 4 })
	former := older.Ownership(1)
	if logs.Len() != 0 {
		t.Errorf("errors of the only member: %v", logs.All())
	}
	younger := pipelinetest.Own(t, dial(t, c), topic, topic)
	pipelinetest.Await(t, older, younger, "both have some", func(a, b []int) bool {
		return len(a) == 2 && len(b) == 2 && pipelinetest.AllOf(4)(a, b)
	})
	if logged := logs.FilterMessageSnippet("another process joined the group under the same name").All(); len(logged) != 1 {
		t.Errorf("logged %d times: %v", len(logged), logs.All())
	}
	if err := former.Commit(pipelinetest.Context(t), 3, ""); err == nil {
		t.Error("the fenced member committed an offset")
	}
	awaitGroup(t, first, "still a member", func(g pipeline.GroupStatus) bool { return g.Joined })
	younger.End(t)
	pipelinetest.Await(t, older, older, "all of them", func(a, _ []int) bool { return len(a) == 4 })
}

// Without a name and with one of its own a member takes part like any other.
func TestMembersWorkWithoutNames(t *testing.T) {
	on := connect(t)
	c := on.config()
	c.GroupInstance = "none"
	client := dial(t, c)
	topic := pipelinetest.NewTopic(t, client, 4, nil)
	a := pipelinetest.Own(t, client, topic, topic)
	b := pipelinetest.Own(t, dial(t, on.config()), topic, topic)
	pipelinetest.Await(t, a, b, "they share", pipelinetest.AllOf(4))
	a.End(t)
	pipelinetest.Await(t, a, b, "the one that stays has all", func(_, b []int) bool { return len(b) == 4 })
}

// Names found by themselves differ as long as those who have them live, and are given again.
func TestNamesOfTheHost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes have no names here")
	}
	a, b := dial(t, config([]string{"127.0.0.1:1"})), dial(t, config([]string{"127.0.0.1:1"}))
	group := fmt.Sprintf("g%d", time.Now().UnixNano())
	first, release := kafka.Instance(a, group)
	second, releaseSecond := kafka.Instance(b, group)
	defer releaseSecond()
	if first == "" {
		t.Skipf("the name of this host is of no use")
	}
	if first == second {
		t.Errorf("two members are %q", first)
	}
	if other, releaseOther := kafka.Instance(b, group+"-other"); other != first {
		t.Errorf("in another group %q is %q", first, other)
	} else {
		releaseOther()
	}
	release()
	again, release := kafka.Instance(b, group)
	defer release()
	if again != first {
		t.Errorf("%q, which is free, became %q", first, again)
	}
}

// joinAndStall joins a group, under a name unless that is empty, gets a response, and its
// partitions if it is to, and then does nothing.
func joinAndStall(t *testing.T, on *cluster, group, name string, sync bool) {
	t.Helper()
	request := kmsg.NewPtrJoinGroupRequest()
	request.Group, request.ProtocolType = group, "consumer"
	const long = int32(2 * pipelinetest.Patience / time.Millisecond)
	request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = long, long
	if name != "" {
		request.InstanceID = &name
	}
	meta := kmsg.ConsumerMemberMetadata{Topics: []string{group}}
	request.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: meta.AppendTo(nil)}}
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
	if !sync {
		return
	}
	given := kmsg.ConsumerMemberAssignment{Topics: []kmsg.ConsumerMemberAssignmentTopic{{Topic: group, Partitions: []int32{0}}}, UserData: []byte{0, 0, 0, 1}}
	second := kmsg.NewPtrSyncGroupRequest()
	second.Group, second.Generation, second.MemberID, second.InstanceID = group, response.Generation, response.MemberID, request.InstanceID
	second.ProtocolType, second.Protocol = &request.ProtocolType, &request.Protocols[0].Name
	second.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: response.MemberID, MemberAssignment: given.AppendTo(nil)}}
	synced, err := second.RequestWith(pipelinetest.Context(t), client)
	if err == nil {
		err = kerr.ErrorForCode(synced.ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
