package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// options are the flags.
type options struct {
	out, push, name string
	stamp           stamp
}

// stamp is what --version prints: the variables of scripts/build.sh.
type stamp struct {
	version, commit string
	date            time.Time
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	var date string
	flag.StringVar(&o.out, "out", "", "tar file of the OCI layout")
	flag.StringVar(&o.push, "push", "", "name to push to, such as ghcr.io/eerf-stream/eerf:v1.2.3")
	flag.StringVar(&o.name, "name", "", "name of the image in the tar file, under which an engine loads it")
	flag.StringVar(&o.stamp.version, "version", os.Getenv("VERSION"), "version; $VERSION")
	flag.StringVar(&o.stamp.commit, "commit", os.Getenv("COMMIT"), "commit; $COMMIT")
	flag.StringVar(&date, "date", os.Getenv("DATE"), "time of the commit, RFC 3339; $DATE")
	flag.Parse()
	err := run(ctx, &o, date, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options, date string, args []string) error {
	if len(args) < 2 || (o.out == "") == (o.push == "") {
		return errors.New("want -out FILE or -push NAME, then the licence file and OS/ARCHITECTURE=FOLDER of each platform")
	}
	var err error
	if o.stamp.date, err = time.Parse(time.RFC3339, date); err != nil {
		return fmt.Errorf("date of the commit: %w", err)
	}
	var images []mutate.IndexAddendum
	for _, arg := range args[1:] {
		text, folder, found := strings.Cut(arg, "=")
		platform, err := v1.ParsePlatform(text)
		if !found || err != nil {
			return fmt.Errorf("platform %q: want OS/ARCHITECTURE=FOLDER", arg)
		}
		image, err := o.stamp.image(platform, []entry{
			{"LICENSE", args[0], 0o644},
			{"usr/local/bin/featurizer", filepath.Join(folder, "featurizer"), 0o755},
			{"usr/local/bin/trainer", filepath.Join(folder, "trainer"), 0o755},
		})
		if err != nil {
			return fmt.Errorf("image for %s: %w", platform, err)
		}
		images = append(images, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	index := o.stamp.index(images)
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := writeLayout(o.out, o.name, o.stamp.date, index); err != nil {
			return err
		}
		fmt.Println(digest)
		return nil
	}
	reference, err := name.ParseReference(o.push)
	if err != nil {
		return err
	}
	err = remote.WriteIndex(reference, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return fmt.Errorf("push %s: %w", reference, err)
	}
	fmt.Printf("%s@%s\n", reference.Context(), digest)
	return nil
}
