-- Orders come in; what one piece costs, the large orders, and the totals of each customer go out, all in
-- one transaction.
CREATE TABLE orders (
    id bigint NOT NULL,
    customer text NOT NULL,
    items int NOT NULL,
    amount numeric(12,2) NOT NULL
) WITH (
    topic = 'orders',
    -- What is no JSON, breaks a constraint or divides by zero is kept here, with the reason.
    on_error = 'dead_letter', dead_letter_topic = 'orders_dead',
    partitions = 4, replicas = 1
);

-- Topics of sinks are made by weir where the number of partitions is given.
CREATE TABLE item_prices (id bigint, price numeric(12,2))
WITH (topic = 'item_prices', partitions = 4, replicas = 1);

-- Avro: the schema of these columns is registered when the job starts. Keys are texts.
CREATE TABLE large_orders (id bigint NOT NULL, customer text NOT NULL, amount numeric(12,2))
WITH (
    topic = 'large_orders', key = 'customer', partitions = 4, replicas = 1,
    format = 'avro', key_format = 'raw'
);

-- A table with a key holds the latest row of each key.
CREATE TABLE customer_totals (customer text PRIMARY KEY, orders bigint, amount numeric(12,2))
WITH (topic = 'customer_totals', partitions = 4, replicas = 1);

INSERT INTO item_prices SELECT id, amount / items FROM orders;
INSERT INTO large_orders SELECT id, customer, amount FROM orders WHERE amount >= 1000;
INSERT INTO customer_totals SELECT customer, count(*), sum(amount) FROM orders GROUP BY customer;
