package kafka

import (
	"encoding/base64"
	"encoding/binary"
	"io"

	"github.com/segmentio/kafka-go/protocol"

	"github.com/eerf-stream/eerf/pipeline"
)

// logUUID is the id of a topic on the wire.
type logUUID [16]byte

// uuidOf parses a LogID; false if it is not a topic id.
func uuidOf(id pipeline.LogID) (uuid logUUID, ok bool) {
	if base64.RawURLEncoding.DecodedLen(len(id)) != len(uuid) {
		return uuid, false
	}
	_, err := base64.RawURLEncoding.Decode(uuid[:], []byte(id))
	return uuid, err == nil
}

// logsOf returns the topics of asks by their ids, or nil unless each topic has exactly one.
func logsOf(fetches []*pendingFetch) map[logUUID]string {
	logs, ids := map[logUUID]string{}, map[string]logUUID{}
	for _, p := range fetches {
		id, ok := uuidOf(p.log)
		if !ok {
			return nil
		}
		if topic, twice := logs[id]; twice && topic != p.topic {
			return nil
		}
		if other, twice := ids[p.topic]; twice && other != id { // the topic was just recreated
			return nil
		}
		logs[id], ids[p.topic] = p.topic, id
	}
	return logs
}

// byID reports whether the request has the ids of topics instead of names.
func (e *fetchExchange) byID() bool { return e.version == fetchByID }

// chooseVersion takes the version with ids if all topics have one and the broker supports it. kafka-go does not know that
// version, so the broker is asked.
func (e *fetchExchange) chooseVersion(rw io.ReadWriter) error {
	if e.logs == nil {
		return nil
	}
	newest := int16(e.newest.Load())
	if newest == 0 {
		var err error
		if newest, err = newestVersion(rw, protocol.Fetch, e.clientID, e.correlation-1); err != nil {
			return err
		}
		e.newest.Store(int32(newest))
	}
	if newest >= fetchByID {
		e.version = fetchByID
	}
	return nil
}

// write sends the request.
func (e *fetchExchange) write(w io.Writer) error {
	if !e.byID() {
		return protocol.WriteRequest(w, e.version, e.correlation, e.clientID, &e.request)
	}
	_, err := w.Write(framed(e.requestByID()))
	return err
}

// requestByID encodes the request of version 13.
func (e *fetchExchange) requestByID() []byte {
	const perPartition = 4 + 4 + 8 + 4 + 8 + 4 + 1
	be := binary.BigEndian
	to := make([]byte, 0, 64+len(e.clientID)+len(e.request.Topics)*24+len(e.fetches)*perPartition)
	to = append(appendHeader(to, protocol.Fetch, fetchByID, e.correlation, e.clientID), 0) // no tags
	to = be.AppendUint32(to, uint32(e.request.ReplicaID))
	to = be.AppendUint32(to, uint32(e.request.MaxWaitTime))
	to = be.AppendUint32(to, uint32(e.request.MinBytes))
	to = be.AppendUint32(to, uint32(e.request.MaxBytes))
	to = append(to, byte(e.request.IsolationLevel))
	to = be.AppendUint32(to, uint32(e.request.SessionID))
	to = be.AppendUint32(to, uint32(e.request.SessionEpoch))
	to = binary.AppendUvarint(to, uint64(len(e.request.Topics)+1))
	for _, topic := range e.request.Topics {
		id, _ := uuidOf(e.fetches[partitionKey{topic.Topic, int(topic.Partitions[0].Partition)}].log)
		to = append(to, id[:]...)
		to = binary.AppendUvarint(to, uint64(len(topic.Partitions)+1))
		for _, p := range topic.Partitions {
			to = be.AppendUint32(to, uint32(p.Partition))
			to = be.AppendUint32(to, uint32(p.CurrentLeaderEpoch))
			to = be.AppendUint64(to, uint64(p.FetchOffset))
			to = be.AppendUint32(to, ^uint32(0)) // no epoch of the last fetch
			to = be.AppendUint64(to, uint64(p.LogStartOffset))
			to = be.AppendUint32(to, uint32(p.PartitionMaxBytes))
			to = append(to, 0) // no tags
		}
		to = append(to, 0) // no tags
	}
	return append(to, 1, 1, 0) // nothing forgotten, no rack, no tags
}
