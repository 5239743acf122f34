package freeport

import (
	"net"
	"testing"
)

func TestAReservedPortCanBeListenedOnAgainAndAgain(t *testing.T) {
	address := Address(t)
	for range 3 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			t.Fatal("somebody answers before anybody listens")
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		listener.Close()
	}
}
