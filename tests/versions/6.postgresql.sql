CREATE TABLE public.api_key (
    id integer NOT NULL,
    customer_id integer NOT NULL,
    hash text NOT NULL,
    prefix text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_on date,
    revoked_at timestamp with time zone,
    CONSTRAINT api_key_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT api_key_expires_on_check CHECK (((expires_on >= '0001-01-01'::date) AND (expires_on <= '9999-12-31'::date))),
    CONSTRAINT api_key_revoked_at_check CHECK (((revoked_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (revoked_at < '10000-01-01 00:00:00+00'::timestamp with time zone)))
);
CREATE SEQUENCE public.api_key_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.api_key_id_seq OWNED BY public.api_key.id;
CREATE TABLE public.article (
    pk integer NOT NULL,
    customer_id integer NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    slug text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    published_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    views bigint NOT NULL,
    origin text COLLATE pg_catalog."C",
    claim text,
    claimed_at timestamp with time zone,
    edited boolean DEFAULT false NOT NULL,
    title text NOT NULL,
    folded_title text NOT NULL COLLATE pg_catalog."C",
    search_text text NOT NULL COLLATE pg_catalog."C",
    banner_url text NOT NULL,
    category text NOT NULL,
    keywords text NOT NULL,
    authors text DEFAULT '[]'::text NOT NULL,
    meta_title text NOT NULL,
    meta_desc text NOT NULL,
    read_time double precision NOT NULL,
    content_html text NOT NULL,
    schema_markup text,
    CONSTRAINT article_authors_check CHECK ((jsonb_typeof((authors)::jsonb) = 'array'::text)),
    CONSTRAINT article_check CHECK (((status = ANY (ARRAY['draft'::text, 'pending'::text])) OR ((status = 'published'::text) AND (published_at IS NOT NULL)))),
    CONSTRAINT article_claim_check CHECK ((claim = ANY (ARRAY['published'::text, 'withheld'::text]))),
    CONSTRAINT article_claimed_at_check CHECK (((claimed_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (claimed_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT article_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT article_keywords_check CHECK ((jsonb_typeof((keywords)::jsonb) = 'array'::text)),
    CONSTRAINT article_published_at_check CHECK (((published_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (published_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT article_read_time_check CHECK (((read_time >= (0)::double precision) AND (read_time < (1000000)::double precision))),
    CONSTRAINT article_schema_markup_check CHECK ((jsonb_typeof((schema_markup)::jsonb) = 'object'::text)),
    CONSTRAINT article_updated_at_check CHECK (((updated_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (updated_at < '10000-01-01 00:00:00+00'::timestamp with time zone)))
);
CREATE SEQUENCE public.article_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.article_pk_seq OWNED BY public.article.pk;
CREATE TABLE public.customer (
    id integer NOT NULL,
    name text NOT NULL,
    site text DEFAULT ''::text NOT NULL
);
CREATE SEQUENCE public.customer_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.customer_id_seq OWNED BY public.customer.id;
CREATE TABLE public.tables_version (
    number integer NOT NULL
);
ALTER TABLE ONLY public.api_key ALTER COLUMN id SET DEFAULT nextval('public.api_key_id_seq'::regclass);
ALTER TABLE ONLY public.article ALTER COLUMN pk SET DEFAULT nextval('public.article_pk_seq'::regclass);
ALTER TABLE ONLY public.customer ALTER COLUMN id SET DEFAULT nextval('public.customer_id_seq'::regclass);
INSERT INTO public.api_key VALUES (1, 1, '719591a83865f94ad5aa64abd467235508e87b09c5aaf45c12eb16eabcbe9b8d', 'ver', '2026-01-31 09:30:00+00', NULL, NULL);
INSERT INTO public.article VALUES (1, 1, 'a-1', 'own', 'published', '2026-01-31 09:30:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 1, NULL, NULL, NULL, false, 'Tea 1', 'tea 1', 'tea 1
own', '', '', '["a"]', '["Ünï"]', 'Tea 1', 'Text 1', 2.5, '<p>Text 1</p>', '{"@context":"https://schema.org","@graph":[{"n":1.0}]}');
INSERT INTO public.article VALUES (2, 1, 'a-2', 'own-draft', 'draft', NULL, '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 2, NULL, NULL, NULL, false, 'Tea 2', 'tea 2', 'tea 2
own-draft', '', '', '[]', '[]', 'Tea 2', 'Text 2', 1, '<p>Text 2</p>', NULL);
INSERT INTO public.article VALUES (3, 1, 'a-3', 'unknown', 'published', '2026-01-31 09:30:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 3, '?', NULL, NULL, false, 'Tea 3', 'tea 3', 'tea 3
unknown', '', '', '[]', '[]', 'Tea 3', 'Text 3', 1, '<p>Text 3</p>', NULL);
INSERT INTO public.article VALUES (4, 1, 'a-4', 'agreed', 'published', '2026-01-31 09:30:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 4, 'wordpress:example.com/blog/17', 'published', '2026-01-31 09:30:00+00', false, 'Tea 4', 'tea 4', 'tea 4
agreed', '', '', '[]', '[]', 'Tea 4', 'Text 4', 1, '<p>Text 4</p>', NULL);
INSERT INTO public.article VALUES (5, 1, 'a-5', 'edited', 'published', '2026-01-31 09:30:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 5, 'markdown/2026/menu', 'published', '2026-01-31 09:30:00+00', true, 'Tea 5', 'tea 5', 'tea 5
edited', '', '', '[]', '[]', 'Tea 5', 'Text 5', 1, '<p>Text 5</p>', NULL);
INSERT INTO public.article VALUES (6, 1, 'a-6', 'waiting', 'pending', '2026-01-31 09:30:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 6, 'csv/waiting', 'published', '2026-01-31 09:30:00+00', false, 'Tea 6', 'tea 6', 'tea 6
waiting', '', '', '[]', '[]', 'Tea 6', 'Text 6', 1, '<p>Text 6</p>', NULL);
INSERT INTO public.article VALUES (7, 1, 'a-7', 'withheld', 'pending', '2026-01-31 09:30:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 7, 'csv/withheld', 'withheld', '2026-01-31 09:30:00+00', false, 'Tea 7', 'tea 7', 'tea 7
withheld', '', '', '[]', '[]', 'Tea 7', 'Text 7', 1, '<p>Text 7</p>', NULL);
INSERT INTO public.article VALUES (8, 1, 'a-8', 'hidden-here', 'draft', '2026-01-31 09:30:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 8, 'csv/hidden-here', 'published', '2026-01-31 09:30:00+00', false, 'Tea 8', 'tea 8', 'tea 8
hidden-here', '', '', '[]', '[]', 'Tea 8', 'Text 8', 1, '<p>Text 8</p>', NULL);
INSERT INTO public.article VALUES (9, 1, 'a-9', 'published-here', 'published', '2026-01-31 09:30:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 9, 'csv/published-here', 'withheld', '2026-01-31 09:30:00+00', false, 'Tea 9', 'tea 9', 'tea 9
published-here', '', '', '[]', '[]', 'Tea 9', 'Text 9', 1, '<p>Text 9</p>', NULL);
INSERT INTO public.article VALUES (10, 1, 'a-10', 'scheduled', 'published', '2998-01-01 00:00:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 10, 'ghost/1', 'published', '2998-01-01 00:00:00+00', false, 'Tea 10', 'tea 10', 'tea 10
scheduled', '', '', '[]', '[]', 'Tea 10', 'Text 10', 1, '<p>Text 10</p>', NULL);
INSERT INTO public.article VALUES (11, 1, 'a-11', 'scheduled-here', 'published', '2998-01-01 00:00:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 11, 'ghost/2', 'published', NULL, false, 'Tea 11', 'tea 11', 'tea 11
scheduled-here', '', '', '[]', '[]', 'Tea 11', 'Text 11', 1, '<p>Text 11</p>', NULL);
INSERT INTO public.article VALUES (12, 1, 'a-12', 'dated-here', 'published', '2026-01-31 09:30:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 12, 'ghost/3', 'published', '2026-01-15 00:00:00+00', false, 'Tea 12', 'tea 12', 'tea 12
dated-here', '', '', '[]', '[]', 'Tea 12', 'Text 12', 1, '<p>Text 12</p>', NULL);
INSERT INTO public.article VALUES (13, 1, 'a-13', 'pending-dated-here', 'pending', '2026-01-31 09:30:00+00', '2026-01-15 00:00:00+00', '2026-01-15 00:00:00+00', 13, 'ghost/4', 'published', '2026-01-15 00:00:00+00', false, 'Tea 13', 'tea 13', 'tea 13
pending-dated-here', '', '', '[]', '[]', 'Tea 13', 'Text 13', 1, '<p>Text 13</p>', NULL);
INSERT INTO public.customer VALUES (1, 'Söhne & <Co>', '');
INSERT INTO public.tables_version VALUES (6);
SELECT pg_catalog.setval('public.api_key_id_seq', 2, true);
SELECT pg_catalog.setval('public.article_pk_seq', 13, true);
SELECT pg_catalog.setval('public.customer_id_seq', 2, true);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.article
    ADD CONSTRAINT article_customer_id_id_key UNIQUE (customer_id, id);
ALTER TABLE ONLY public.article
    ADD CONSTRAINT article_customer_id_slug_key UNIQUE (customer_id, slug);
ALTER TABLE ONLY public.article
    ADD CONSTRAINT article_pkey PRIMARY KEY (pk);
ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_name_key UNIQUE (name);
ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tables_version
    ADD CONSTRAINT tables_version_pkey PRIMARY KEY (number);
CREATE INDEX article_by_creation ON public.article USING btree (customer_id, status, created_at, id, published_at);
CREATE UNIQUE INDEX article_by_origin ON public.article USING btree (customer_id, origin) WHERE (origin <> '?'::text);
CREATE INDEX article_by_publication ON public.article USING btree (customer_id, status, published_at, id);
CREATE INDEX article_by_slug ON public.article USING btree (customer_id, status, slug, published_at, updated_at);
CREATE INDEX article_by_title ON public.article USING btree (customer_id, status, folded_title, id, published_at);
CREATE INDEX article_by_views ON public.article USING btree (customer_id, status, views, id, published_at);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);
ALTER TABLE ONLY public.article
    ADD CONSTRAINT article_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);
