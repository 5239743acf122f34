-- Orders and whether they were returned, joined within an hour of the order. Times are those of the rows, not of their arrival.

-- A row may come up to 30 seconds after a younger one. Later rows may be left out.
CREATE TABLE events (
  id STRING,
  `time` TIMESTAMP_LTZ(3),
  amount DOUBLE,
  items INT,
  distance_km DOUBLE,
  country STRING,
  express BOOLEAN,
  WATERMARK FOR `time` AS `time` - INTERVAL '30' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'events',
  'properties.bootstrap.servers' = '${brokers}',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset', -- without this line the job goes on
  'format' = 'json',
  'json.timestamp-format.standard' = 'ISO-8601'
);

CREATE TABLE labels (
  id STRING,
  `time` TIMESTAMP_LTZ(3),
  returned STRING,
  WATERMARK FOR `time` AS `time` - INTERVAL '30' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'labels',
  'properties.bootstrap.servers' = '${brokers}',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset',
  'format' = 'json',
  'json.timestamp-format.standard' = 'ISO-8601'
);

CREATE TABLE labelled (
  id STRING,
  `time` TIMESTAMP_LTZ(3),
  amount DOUBLE,
  items INT,
  distance_km DOUBLE,
  country STRING,
  express BOOLEAN,
  returned STRING
) WITH (
  'connector' = 'kafka',
  'topic' = 'labelled',
  'properties.bootstrap.servers' = '${brokers}',
  'key.format' = 'raw',
  'key.fields' = 'id',
  'format' = 'json',
  'json.timestamp-format.standard' = 'ISO-8601'
);

-- Every label that came within the hour. The label's time becomes a plain column, as watermarks follow one time per row.
CREATE TEMPORARY VIEW joined AS
SELECT e.*, l.returned, l.`time` + INTERVAL '0' SECOND AS label_time
FROM events AS e
JOIN labels AS l
  ON l.id = e.id AND l.`time` BETWEEN e.`time` AND e.`time` + INTERVAL '1' HOUR;

-- The first of them. All labels of an order fall into the minute of the order, so each minute is written once, an hour later:
-- nothing that was written is ever taken back, as a topic of events requires.
INSERT INTO labelled
SELECT id, `time`, amount, items, distance_km, country, express, returned
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, id ORDER BY label_time) AS place
  FROM TABLE(TUMBLE(TABLE joined, DESCRIPTOR(`time`), INTERVAL '1' MINUTE))
)
WHERE place = 1;
