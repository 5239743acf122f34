package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "serveload:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	var l load
	var s speed
	commands := map[string]struct {
		flags func(*flag.FlagSet)
		run   func(context.Context) error
	}{"load": {l.flags, l.run}, "speed": {s.flags, s.run}}
	if len(arguments) == 0 || commands[arguments[0]].run == nil {
		return fmt.Errorf("want the word load or speed")
	}
	flags := flag.NewFlagSet(arguments[0], flag.ExitOnError)
	commands[arguments[0]].flags(flags)
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	return commands[arguments[0]].run(ctx)
}
