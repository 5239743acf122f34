package embedded_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline/embedded"
)

// A silent member delays the others for less than the long timeout that it requested.
func TestRebalancesAreBounded(t *testing.T) {
	broker := start(t, embedded.Options{RebalanceTimeout: 50 * time.Millisecond})
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	join := func() {
		t.Helper()
		request := kmsg.NewPtrJoinGroupRequest()
		request.Version, request.Group, request.ProtocolType = 2, "g", "consumer"
		request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = 60_000, 10*60_000
		request.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
		answer, err := request.RequestWith(background(t), client)
		for err == nil && answer.ErrorCode == kerr.MemberIDRequired.Code {
			request.MemberID = answer.MemberID
			answer, err = request.RequestWith(background(t), client)
		}
		if err == nil {
			err = kerr.ErrorForCode(answer.ErrorCode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	join() // sends nothing more
	join()
}
