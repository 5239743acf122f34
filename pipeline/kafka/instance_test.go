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

// Members that died under a name, in any state, do not delay their successor until their sessions
// expire. The sessions here are longer than the timeout of the test.
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

// A successor gets the partitions of its predecessor, and partitions that were added meanwhile are
// assigned too.
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

// If two members claim one name, the older is fenced and logs that. Both continue, and never own
// the same partition.
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
		t.Errorf("logged errors with a single member: %v", logs.All())
	}
	younger := pipelinetest.Own(t, dial(t, c), topic, topic)
	pipelinetest.Await(t, older, younger, "both have some", func(a, b []int) bool {
		return len(a) == 2 && len(b) == 2 && pipelinetest.AllOf(4)(a, b)
	})
	if logged := logs.FilterMessageSnippet("another process joined the group under the same name").All(); len(
		logged,
	) != 1 {
		t.Errorf("logged %d times: %v", len(logged), logs.All())
	}
	if err := former.Commit(pipelinetest.Context(t), 3, ""); err == nil {
		t.Error("the fenced member committed an offset")
	}
	awaitGroup(t, first, "still a member", func(g pipeline.GroupStatus) bool { return g.Joined })
	younger.End(t)
	pipelinetest.Await(t, older, older, "all of them", func(a, _ []int) bool { return len(a) == 4 })
}

// Members without a name share the partitions like members with automatic names.
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
	pipelinetest.Await(t, a, b, "the remaining member has all", func(_, b []int) bool { return len(b) == 4 })
}

// Automatic names of living members differ. A released name is reused.
func TestNamesOfTheHost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("automatic names need Linux")
	}
	a, b := dial(t, config([]string{"127.0.0.1:1"})), dial(t, config([]string{"127.0.0.1:1"}))
	group := fmt.Sprintf("g%d", time.Now().UnixNano())
	first, release := kafka.Instance(a, group)
	second, releaseSecond := kafka.Instance(b, group)
	defer releaseSecond()
	if first == "" {
		t.Skipf("the name of this host is unusable")
	}
	if first == second {
		t.Errorf("two members have the name %q", first)
	}
	if other, releaseOther := kafka.Instance(b, group+"-other"); other != first {
		t.Errorf("name in one group %q, in another group %q", first, other)
	} else {
		releaseOther()
	}
	release()
	again, release := kafka.Instance(b, group)
	defer release()
	if again != first {
		t.Errorf("released name %q was not reused, got %q", first, again)
	}
}

// joinAndStall joins a group, under a name unless it is empty, and then does nothing. With sync it
// also receives its partitions.
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
	given := kmsg.ConsumerMemberAssignment{
		Topics:   []kmsg.ConsumerMemberAssignmentTopic{{Topic: group, Partitions: []int32{0}}},
		UserData: []byte{0, 0, 0, 1},
	}
	second := kmsg.NewPtrSyncGroupRequest()
	second.Group = group
	second.Generation = response.Generation
	second.MemberID = response.MemberID
	second.InstanceID = request.InstanceID
	second.ProtocolType, second.Protocol = &request.ProtocolType, &request.Protocols[0].Name
	second.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{
		{MemberID: response.MemberID, MemberAssignment: given.AppendTo(nil)},
	}
	synced, err := second.RequestWith(pipelinetest.Context(t), client)
	if err == nil {
		err = kerr.ErrorForCode(synced.ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
