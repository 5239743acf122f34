package crash

import (
	"math"
	"os"
	"strconv"
	"time"

	"github.com/eerf-stream/eerf/pipeline/embedded"
)

// brokerCommand is the first argument of a process of this program that serves as embedded broker.
// Its data directory, its port and the time that a rebalance waits for members follow.
const brokerCommand = "embedded-broker"

// serveBroker runs the embedded broker until it is killed. It compacts every second, unless it is
// about to be killed.
func serveBroker(dir, port, rebalance string) error {
	options := embedded.Options{Dir: dir, CompactEvery: math.MaxInt64}
	var err error
	if options.Port, err = strconv.Atoi(port); err != nil {
		return err
	}
	if options.RebalanceTimeout, err = time.ParseDuration(rebalance); err != nil {
		return err
	}
	broker, err := embedded.Start(options)
	if err != nil {
		return err
	}
	for range time.Tick(time.Second) {
		if spared, ok := spare(dir); ok {
			broker.Compact()
			spared()
		}
	}
	return nil
}

// spare prevents compaction and killing of the embedded broker with its data in dir, until end is
// called. It returns false if another caller holds the mark.
func spare(dir string) (end func(), ok bool) {
	mark := dir + ".spared"
	if os.Mkdir(mark, 0o700) != nil {
		return nil, false
	}
	return func() { _ = os.Remove(mark) }, true
}
