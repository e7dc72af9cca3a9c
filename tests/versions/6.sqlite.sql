PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE tables_version (
	number INTEGER NOT NULL, 
	PRIMARY KEY (number)
);
INSERT INTO tables_version VALUES(6);
CREATE TABLE customer (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name TEXT NOT NULL, 
	site TEXT DEFAULT '' NOT NULL, 
	UNIQUE (name), 
	CHECK (typeof(name) IN ('text', 'null')), 
	CHECK (typeof(site) IN ('text', 'null'))
);
INSERT INTO customer VALUES(1,'Söhne & <Co>','');
CREATE TABLE api_key (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	customer_id INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_on DATE, 
	revoked_at DATETIME, 
	FOREIGN KEY(customer_id) REFERENCES customer (id), 
	UNIQUE (hash), 
	CHECK (typeof(hash) IN ('text', 'null')), 
	CHECK (typeof(prefix) IN ('text', 'null')), 
	CHECK (substr(created_at, 1, 19) IS datetime(created_at, '+0 days') AND substr(created_at, 20) NOT GLOB '*[^.0-9]*' AND created_at >= '0001-01-01'), 
	CHECK (expires_on IS date(expires_on, '+0 days') AND expires_on >= '0001-01-01'), 
	CHECK (substr(revoked_at, 1, 19) IS datetime(revoked_at, '+0 days') AND substr(revoked_at, 20) NOT GLOB '*[^.0-9]*' AND revoked_at >= '0001-01-01')
);
INSERT INTO api_key VALUES(1,1,'8f3abedec27673fd11edc466caedc30f9f6476c063f7833f3f04f14aaed508ad','ver','2026-01-31 09:30:00.000',NULL,NULL);
CREATE TABLE article (
	pk INTEGER NOT NULL, 
	customer_id INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	slug TEXT NOT NULL, 
	status TEXT NOT NULL, 
	published_at DATETIME, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	views BIGINT NOT NULL, 
	origin TEXT, 
	claim TEXT, 
	claimed_at DATETIME, 
	edited BOOLEAN DEFAULT 0 NOT NULL, 
	title TEXT NOT NULL, 
	folded_title TEXT NOT NULL, 
	search_text TEXT NOT NULL, 
	banner_url TEXT NOT NULL, 
	category TEXT NOT NULL, 
	keywords TEXT NOT NULL, 
	authors TEXT DEFAULT '[]' NOT NULL, 
	meta_title TEXT NOT NULL, 
	meta_desc TEXT NOT NULL, 
	read_time FLOAT NOT NULL, 
	content_html TEXT NOT NULL, 
	schema_markup TEXT, 
	PRIMARY KEY (pk), 
	UNIQUE (customer_id, id), 
	UNIQUE (customer_id, slug), 
	CHECK (status IN ('draft', 'pending') OR status = 'published' AND published_at IS NOT NULL), 
	CHECK (claim IN ('published', 'withheld')), 
	CHECK (read_time >= 0 AND read_time < 1000000), 
	FOREIGN KEY(customer_id) REFERENCES customer (id), 
	CHECK (typeof(id) IN ('text', 'null')), 
	CHECK (typeof(slug) IN ('text', 'null')), 
	CHECK (typeof(status) IN ('text', 'null')), 
	CHECK (substr(published_at, 1, 19) IS datetime(published_at, '+0 days') AND substr(published_at, 20) NOT GLOB '*[^.0-9]*' AND published_at >= '0001-01-01'), 
	CHECK (substr(created_at, 1, 19) IS datetime(created_at, '+0 days') AND substr(created_at, 20) NOT GLOB '*[^.0-9]*' AND created_at >= '0001-01-01'), 
	CHECK (substr(updated_at, 1, 19) IS datetime(updated_at, '+0 days') AND substr(updated_at, 20) NOT GLOB '*[^.0-9]*' AND updated_at >= '0001-01-01'), 
	CHECK (typeof(origin) IN ('text', 'null')), 
	CHECK (substr(claimed_at, 1, 19) IS datetime(claimed_at, '+0 days') AND substr(claimed_at, 20) NOT GLOB '*[^.0-9]*' AND claimed_at >= '0001-01-01'), 
	CHECK (edited IN (0, 1)), 
	CHECK (typeof(title) IN ('text', 'null')), 
	CHECK (typeof(folded_title) IN ('text', 'null')), 
	CHECK (typeof(search_text) IN ('text', 'null')), 
	CHECK (typeof(banner_url) IN ('text', 'null')), 
	CHECK (typeof(category) IN ('text', 'null')), 
	CHECK (typeof(keywords) IN ('text', 'null')), 
	CHECK (keywords IS NULL OR json_valid(keywords) AND json_type(keywords) = 'array'), 
	CHECK (typeof(authors) IN ('text', 'null')), 
	CHECK (authors IS NULL OR json_valid(authors) AND json_type(authors) = 'array'), 
	CHECK (typeof(meta_title) IN ('text', 'null')), 
	CHECK (typeof(meta_desc) IN ('text', 'null')), 
	CHECK (typeof(content_html) IN ('text', 'null')), 
	CHECK (typeof(schema_markup) IN ('text', 'null')), 
	CHECK (schema_markup IS NULL OR json_valid(schema_markup) AND json_type(schema_markup) = 'object')
);
INSERT INTO article VALUES(1,1,'a-1','tea','published','2025-03-01 09:30:00.500000','2025-01-01 00:00:00.000000','2025-02-01 00:00:00.000000',0,'?',NULL,NULL,0,'Tea','tea',replace('tea\ntea','\n',char(10)),'https://www.example.com/t.jpg','News','["tea","ünï"]','[]','Tea','Tea & milk.',1.0,'<p>Tea &amp; milk.</p>',NULL);
INSERT INTO article VALUES(2,1,'a-2','script','published','2025-03-02 09:30:00.000000','2025-01-01 00:00:00.000000','2025-04-01 00:00:00.123000',0,'?',NULL,NULL,0,'What </Script> does','what </script> does',replace('what </script> does\nscript','\n',char(10)),'','','[]','[]','What </Script> does','<!-- x',2.5,'&lt;!-- x',NULL);
INSERT INTO article VALUES(3,1,'a-3','given','published','2025-03-03 09:30:00.000000','2025-01-01 00:00:00.000000','2025-04-01 00:00:00.000000',7,'?',NULL,NULL,0,'Given','given',replace('given\ngiven','\n',char(10)),'','','[]','[]','Given','Given',1.0,'<p>Given</p>','{"@context":"https://schema.org","@graph":[{"n":1.0}]}');
INSERT INTO article VALUES(4,1,'a-4','draft','draft',NULL,'2025-01-01 00:00:00.000000','2025-04-01 00:00:00.000000',0,'?',NULL,NULL,0,'Draft','draft',replace('draft\ndraft','\n',char(10)),'','','[]','[]','Draft','Draft',1.0,'<p>Draft</p>',NULL);
INSERT INTO article VALUES(5,1,'a-5','later','published','2050-01-01 00:00:00.000000','2025-01-01 00:00:00.000000','2025-04-01 00:00:00.000000',0,'?',NULL,NULL,0,'Later','later',replace('later\nlater','\n',char(10)),'','','[]','[]','Later','Later',1.0,'<p>Later</p>',NULL);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('customer',2);
INSERT INTO sqlite_sequence VALUES('api_key',3);
CREATE INDEX article_by_creation ON article (customer_id, status, created_at, id, published_at, search_text);
CREATE UNIQUE INDEX article_by_origin ON article (customer_id, origin) WHERE origin <> '?';
CREATE INDEX article_by_slug ON article (customer_id, status, slug, published_at, updated_at);
CREATE INDEX article_by_views ON article (customer_id, status, views, id, published_at, search_text);
CREATE INDEX article_by_title ON article (customer_id, status, folded_title, id, published_at, search_text);
CREATE INDEX article_by_publication ON article (customer_id, status, published_at, id, search_text);
COMMIT;
